// How far the sort is: written by the coordinator, read by whoever shows it (a terminal line, a JSON stream).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace ecosort::pipeline {

enum class Phase : std::uint8_t { starting, run_formation, intermediate_merge, merge, sync, reread, done };
[[nodiscard]] const char* to_string(Phase phase) noexcept;

// Is told by the coordinator, between two steps of the work; what it throws ends the sort.
class ProgressListener {
 public:
  ProgressListener() = default;
  ProgressListener(const ProgressListener&) = delete;
  ProgressListener& operator=(const ProgressListener&) = delete;
  virtual ~ProgressListener() = default;
  virtual void begin_phase(Phase phase, std::uint64_t total_bytes) = 0;
  virtual void moved(std::uint64_t bytes) = 0;  // of the phase in all, at most ten times a second
};

// Written by the coordinator; readers are thread-safe.
class Progress {
 public:
  explicit Progress(ProgressListener* listener = nullptr) : listener_(listener) {}

  void begin(Phase phase, std::uint64_t total_bytes) {
    bytes_ = 0;
    total_ = total_bytes;
    phase_ = phase;
    if (listener_ != nullptr) listener_->begin_phase(phase, total_bytes);
  }
  void add_bytes(std::uint64_t bytes) {
    bytes_ += bytes;
    if (listener_ != nullptr) tell();
  }

  [[nodiscard]] Phase phase() const noexcept { return phase_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t total_bytes() const noexcept { return total_; }  // 0: unknown

 private:
  void tell() {
    const auto now = std::chrono::steady_clock::now();
    if (now - told_ < std::chrono::milliseconds(100)) return;
    told_ = now;
    listener_->moved(bytes_);
  }

  ProgressListener* const listener_;
  std::chrono::steady_clock::time_point told_;
  std::atomic<Phase> phase_ = Phase::starting;
  std::atomic<std::uint64_t> bytes_ = 0, total_ = 0;
};

}  // namespace ecosort::pipeline
