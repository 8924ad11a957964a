// How far the sort is: written by the coordinator, read by whoever shows it (a terminal line, a JSON stream).
#pragma once

#include <atomic>
#include <cstdint>

namespace ecosort::pipeline {

enum class Phase : std::uint8_t { starting, run_formation, intermediate_merge, merge, sync, reread, done };
[[nodiscard]] const char* to_string(Phase phase) noexcept;

// Thread-safe.
class Progress {
 public:
  void begin(Phase phase, std::uint64_t total_bytes) noexcept {
    bytes_ = 0;
    total_ = total_bytes;
    phase_ = phase;
  }
  void add_bytes(std::uint64_t bytes) noexcept { bytes_ += bytes; }

  [[nodiscard]] Phase phase() const noexcept { return phase_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t total_bytes() const noexcept { return total_; }  // 0: unknown

 private:
  std::atomic<Phase> phase_ = Phase::starting;
  std::atomic<std::uint64_t> bytes_ = 0, total_ = 0;
};

}  // namespace ecosort::pipeline
