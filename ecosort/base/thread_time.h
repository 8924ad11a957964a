// Measures what threads have computed so far, and how long they were ready to compute while others had the processors.
#pragma once

#include <time.h>

#include <string_view>

#include "base/descriptor.h"

namespace ecosort {

// CPU seconds of the calling thread.
[[nodiscard]] inline double thread_cpu_s() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Seconds of threads. `ready_s`: they could have computed, but the system had given the processors to others.
struct ThreadTimes {
  double computed_s = 0, ready_s = 0;
};

// Reads what the system writes into a thread's schedstat; zeros where it writes none.
[[nodiscard]] ThreadTimes thread_times_of(std::string_view schedstat) noexcept;

// Sums all threads that this process has now, but for the calling one.
[[nodiscard]] ThreadTimes other_threads_times();

// Reads the times of the thread that makes it, in about a microsecond.
class OwnThreadTimes {
 public:
  OwnThreadTimes();
  [[nodiscard]] ThreadTimes now() const noexcept;

 private:
  Descriptor schedstat_;
};

}  // namespace ecosort
