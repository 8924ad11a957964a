// SIGINT, SIGTERM and SIGHUP end a run in order: the handler notes the signal and wakes the coordinator, if any, which unwinds.
#pragma once

#include <atomic>
#include <csignal>

#include "job/session.h"

namespace ecosort::cli {

// While it lives, the three signals are caught (SIGHUP not if it was ignored, as under nohup). One at a time per process.
class SignalGuard {
 public:
  explicit SignalGuard(io::Queue* queue = nullptr);
  ~SignalGuard();
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

  [[nodiscard]] const std::atomic<int>& received() const noexcept;  // 0: none

 private:
  struct sigaction before_[3];
};

}  // namespace ecosort::cli
