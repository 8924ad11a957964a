// Measures how long drives took for what they moved, however late the coordinator notices that they are done.
//
// Beside a busy processor the coordinator gets to its completions late, so the time from a request to its reaping says little
// of the drive. What counts is only time in which the drives provably had work:
//
//   while the coordinator sleeps, nothing has completed, because a completion would wake it;
//   a request that was handed over before one wait and is still in flight after the next was under way all that time.
//
// A worker of the system that ends a request late looks like the drive: drive_clock.h bounds that. Pure: it is given all times.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace ecosort::io {

// The coordinator's clock, and how much of that time it did not sleep: it computed, or was ready to.
struct AwakeTime {
  std::chrono::nanoseconds now{0}, awake{0};
};

// Counts what drives did so far.
struct DriveWork {
  std::uint64_t bytes = 0;
  std::chrono::nanoseconds busy{0};  // provably
  // 0: nothing is known.
  [[nodiscard]] double seconds_per_byte() const noexcept {
    return bytes == 0 ? 0 : std::chrono::duration<double>(busy).count() / static_cast<double>(bytes);
  }
};

class DriveMeter {
 public:
  // A request of a drive will be handed over in the next wait. Returns what end() wants to know of it.
  [[nodiscard]] std::uint64_t begin() noexcept {
    ++fresh_;
    return waits_;
  }
  // The coordinator waits, and perhaps sleeps.
  void wait_begins(const AwakeTime& time) noexcept { wait_begin_ = time; }
  // Takes a request that this wait brought back, whose begin() returned `begun`.
  void end(std::uint64_t begun, std::size_t bytes) noexcept;
  // After end() of all that it brought back.
  void wait_ended(const AwakeTime& time) noexcept;

  [[nodiscard]] const DriveWork& work() const noexcept { return work_; }

 private:
  std::uint64_t waits_ = 0;
  std::size_t known_ = 0, fresh_ = 0;              // in flight since before this wait; handed over in it
  std::size_t ended_known_ = 0, ended_fresh_ = 0;  // by this wait
  AwakeTime wait_begin_;
  std::chrono::nanoseconds last_end_{0};
  DriveWork work_;
};

}  // namespace ecosort::io
