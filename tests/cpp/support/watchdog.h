// Ends the test program with the name of what hangs, instead of leaving that to somebody's patience.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

#include "cpp/support/test_environment.h"

namespace ecosort {

// One at a time; lives as long as what it watches. A sanitizer or an emulator gets a multiple of the patience.
class Watchdog {
 public:
  explicit Watchdog(std::string what, std::chrono::seconds patience = std::chrono::seconds{20})
      : what_(std::move(what)), thread_([this, patience] { watch(patience); }) {}
  ~Watchdog() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // The patience begins anew.
  void next(std::string what) {
    {
      const std::lock_guard lock(mutex_);
      what_ = std::move(what);
      ++turn_;
    }
    changed_.notify_all();
  }

 private:
  void watch(std::chrono::seconds patience) {
    patience *= slowness * (is_emulated() ? 30 : 1);
    std::unique_lock lock(mutex_);
    while (!done_) {
      const unsigned long turn = turn_;
      if (changed_.wait_for(lock, patience, [&] { return done_ || turn_ != turn; })) continue;
      std::fprintf(stderr, "hangs: %s\n", what_.c_str());
      std::abort();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_;
  unsigned long turn_ = 0;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace ecosort
