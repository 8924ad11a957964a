#include "base/thread_time.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <memory>
#include <string>

#include "base/system_file.h"

namespace ecosort {
namespace {

double seconds_of_word(std::string_view word) noexcept {
  std::uint64_t nanoseconds = 0;
  (void)std::from_chars(word.data(), word.data() + word.size(), nanoseconds);
  return static_cast<double>(nanoseconds) * 1e-9;
}

}  // namespace

ThreadTimes thread_times_of(std::string_view schedstat) noexcept {
  const std::string_view computed = take_word(schedstat), ready = take_word(schedstat);
  return {seconds_of_word(computed), seconds_of_word(ready)};
}

ThreadTimes other_threads_times() {
  const std::string tasks = "/proc/self/task/", own = std::to_string(::gettid());
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(tasks.c_str()), ::closedir);
  ThreadTimes sum;
  while (const dirent* const thread = directory ? ::readdir(directory.get()) : nullptr) {
    if (thread->d_name[0] == '.' || thread->d_name == own) continue;
    const ThreadTimes its = thread_times_of(read_system_file(tasks + thread->d_name + "/schedstat"));
    sum.computed_s += its.computed_s;
    sum.ready_s += its.ready_s;
  }
  return sum;
}

OwnThreadTimes::OwnThreadTimes() : schedstat_(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {}

// The system brings the first number up to date only when the thread is put aside, so that is asked of the thread's clock.
ThreadTimes OwnThreadTimes::now() const noexcept {
  std::array<char, 80> text;  // three numbers of up to 20 digits
  const ssize_t size = schedstat_.is_open() ? ::pread(schedstat_.get(), text.data(), text.size(), 0) : 0;
  const double ready_s = size > 0 ? thread_times_of({text.data(), static_cast<std::size_t>(size)}).ready_s : 0;
  return {thread_cpu_s(), ready_s};
}

}  // namespace ecosort
