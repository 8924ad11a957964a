#include "io/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/blocked_signals.h"
#include "base/errors.h"

namespace ecosort::io {
namespace {

constexpr std::chrono::milliseconds grace{1000};  // between SIGTERM and SIGKILL
constexpr std::chrono::milliseconds pause{2};

// Holds the arguments of posix_spawn. `error` is that of the first call that failed.
struct SpawnTerms {
  posix_spawnattr_t attributes{};
  posix_spawn_file_actions_t actions{};
  int error = 0;

  SpawnTerms(int input, int output) {
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_init(&actions);
    sigset_t usual, none;
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    sigaddset(&usual, SIGXFSZ);
    sigemptyset(&none);
    check(posix_spawnattr_setsigdefault(&attributes, &usual));
    check(posix_spawnattr_setsigmask(&attributes, &none));
    check(posix_spawnattr_setpgroup(&attributes, 0));
    constexpr int set = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP;
    check(posix_spawnattr_setflags(&attributes, static_cast<short>(set)));
    check(posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO));
    check(posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO));
  }
  ~SpawnTerms() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnTerms(const SpawnTerms&) = delete;
  SpawnTerms& operator=(const SpawnTerms&) = delete;

 private:
  void check(int result) noexcept {
    if (error == 0) error = result;
  }
};

// Sleeps until it has ended; leaves it to be reaped.
void await_end(pid_t pid) noexcept {
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
}

}  // namespace

std::string ChildEnd::text() const {
  return is_signal ? fmt::format("was ended by signal {} ({})", status, strsignal(status))
                   : fmt::format("ended with exit status {}", status);
}

ChildProcess::ChildProcess(const std::vector<std::string>& words, int input, int output) : pid_(-1) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const SpawnTerms terms(input, output);
  int error = terms.error;
  if (error == 0) error = ::posix_spawnp(&pid_, arguments[0], &terms.actions, &terms.attributes, arguments.data(), environ);
  if (error != 0) throw IoError::from_call("run", words[0], error);
}

// The watcher ends with the program, and needs its number until then.
bool ChildProcess::has_ended() noexcept {
  if (end_) return true;
  siginfo_t info{};
  int result = 0;
  do result = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
  while (result != 0 && errno == EINTR);
  if (result == 0 && info.si_pid == 0) return false;
  if (watcher_.joinable()) watcher_.join();
  if (result == 0) ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG);
  end_ = result == 0 ? ChildEnd{info.si_status, info.si_code != CLD_EXITED} : ChildEnd{-1, false};  // reaped by somebody else
  return true;
}

std::optional<ChildEnd> ChildProcess::end(std::chrono::milliseconds patience) {
  const Clock::time_point deadline = Clock::now() + patience;
  while (!has_ended()) {
    if (Clock::now() >= deadline) return std::nullopt;
    std::this_thread::sleep_for(pause);
  }
  return end_;
}

Descriptor ChildProcess::watch() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw IoError::from_call("create a pipe for", "a program's end", errno);
  Descriptor reading(ends[0]);
  const BlockedSignals blocked;
  try {
    watcher_ = std::thread([pid = pid_, fd = ends[1]] {
      await_end(pid);
      ::close(fd);
    });
  } catch (const std::system_error& error) {
    ::close(ends[1]);
    throw IoError::from_call("start", "a thread that waits for a program", error.code().value());
  }
  return reading;
}

void ChildProcess::terminate() noexcept {
  if (end_ || terminated_) return;
  terminated_ = Clock::now();
  ::kill(-pid_, SIGTERM);
}

ChildProcess::~ChildProcess() {
  terminate();
  while (!has_ended() && Clock::now() < *terminated_ + grace) std::this_thread::sleep_for(pause);
  if (end_) return;
  ::kill(-pid_, SIGKILL);
  await_end(pid_);
  (void)has_ended();
}

}  // namespace ecosort::io
