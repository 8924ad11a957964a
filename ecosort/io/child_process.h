// A program that runs beside us, and how it ended. Never a shell: a file name, looked up in PATH where it has no slash.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/descriptor.h"

namespace ecosort::io {

struct ChildEnd {
  int status = 0;  // exit status, or the signal
  bool is_signal = false;

  [[nodiscard]] bool is_success() const noexcept { return !is_signal && status == 0; }
  [[nodiscard]] std::string text() const;  // "ended with exit status 1", "was ended by signal 9 (Killed)"
};

// It leads a process group of its own: a signal to it reaches what it started, and Ctrl-C reaches us alone, who end it in order.
// It has only these of our descriptors: those given, as 0 and 1, and standard error. No signal is blocked, and those that the
// library's users ignore for themselves (SIGPIPE, SIGXFSZ) have their usual effect. SIGCHLD must not be ignored. Not thread-safe.
class ChildProcess {
 public:
  // IoError with the system's reason, such as ENOENT, where it cannot be run. `input` and `output`: 3 or above.
  ChildProcess(const std::vector<std::string>& words, int input, int output);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  // If it still runs: terminate(), and SIGKILL a second later. Nothing is left of it then, no zombie either.
  ~ChildProcess();

  // Returns how the process ended, if it did or does within `patience`.
  [[nodiscard]] std::optional<ChildEnd> end(std::chrono::milliseconds patience = std::chrono::milliseconds::zero());

  // The end of a pipe that nothing comes out of and that ends when the program has ended: for those who sleep until something
  // happens. To be called once. IoError.
  [[nodiscard]] Descriptor watch();

  // Asks it and what it started to end (SIGTERM), once. Does not wait.
  void terminate() noexcept;

 private:
  using Clock = std::chrono::steady_clock;
  [[nodiscard]] bool has_ended() noexcept;

  pid_t pid_;
  std::optional<ChildEnd> end_;  // set when it was reaped: from then on its number may be somebody else's
  std::optional<Clock::time_point> terminated_;
  std::thread watcher_;
};

}  // namespace ecosort::io
