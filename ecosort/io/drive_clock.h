// Asks the system how busy drives were with the requests of all processes.
//
// Beside busy processors a request may be under way long after the drive was done with it: the worker of the kernel's that ends
// a write waits for a processor as well, and DriveMeter takes the time for the drive's. The block layer counts what a drive
// moved, and how long it had requests (/sys/dev/block/*/stat, in ticks of 1 to 10 ms). That says how long a byte takes; others,
// who kept the drive busy for a share of the time, leave the rest of it to us:
//
//   seconds of our byte = busy seconds / all bytes / (1 - share of the time in which it served others)
//
// Others may ask for little and keep it busy for long, so that this alone says too much: the lesser of both counts.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/descriptor.h"
#include "io/drive_meter.h"
#include "io/file.h"

namespace ecosort::io {

// Sums all drives, so that `elapsed` is a multiple of the time where there are several.
struct DriveCounts {
  std::chrono::nanoseconds elapsed{0}, busy{0};
  std::uint64_t bytes = 0;
};

// Reads what the system writes into a drive's stat; zeros where it writes none.
[[nodiscard]] DriveCounts drive_counts_of(std::string_view stat) noexcept;

// Returns what was seen of the drives, but busy for no longer than these counts explain.
[[nodiscard]] DriveWork explained(const DriveWork& seen, const DriveCounts& counts) noexcept;

// Coordinator only.
class DriveClock {
 public:
  // The drive of this file counts from now on, if it did not.
  void watch(const File& file);
  // False: a file has no drive of its own (network, memory, several drives), or the system does not count.
  [[nodiscard]] bool knows_all() const noexcept { return !has_unknown_; }
  // Since each was first watched.
  [[nodiscard]] DriveCounts counts() const noexcept;

 private:
  using Clock = std::chrono::steady_clock;
  struct Drive {
    std::uint64_t number;
    Descriptor stat;
    Clock::time_point since;
    DriveCounts before;
  };

  void watch_drive(std::uint64_t number);

  std::unordered_set<std::uint64_t> files_;  // File::Facts::id
  std::vector<Drive> drives_;
  bool has_unknown_ = false;
};

}  // namespace ecosort::io
