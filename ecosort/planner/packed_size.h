// Computes how large compressed runs of any length are from blocks of runs of some lengths.
//
// The more records a run has, the longer are the beginnings that keys of neighbours have in common, and the less is left to store
// of them; numbers that rise along the input grow instead. Both are so many bits for each doubling of the records: the bytes of a
// block are taken to lie on straight lines between what was measured, and beyond, by the binary logarithm of the run's records.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planner/plan.h"

namespace ecosort::planner {

// Blocks on a drive take whole pages, and never more than they have.
class PackedSize {
 public:
  // Adds what full blocks of a run of so many records take, before they are made whole pages. Each longer than the one before.
  void add(std::uint64_t run_records, std::vector<double> block_bytes);

  [[nodiscard]] bool empty() const noexcept { return points_.empty(); }
  // Returns what a run of so many records takes on the drive. add() was called before.
  [[nodiscard]] std::uint64_t run_bytes(const RunBlock& run_block, std::uint64_t records) const;

 private:
  struct Point {
    double doublings = 0;  // of a run of one record
    std::vector<double> block_bytes;
    double mean = 0;
  };
  [[nodiscard]] static double on_line(const Point& from, const Point& to, double doublings) noexcept;
  [[nodiscard]] double mean_at(double doublings) const noexcept;

  std::vector<Point> points_;
};

// Says what a sort will do with its runs, as a sample of its input shows it (run/packing_sample.h).
struct SampledPacking {
  std::string codec = "none";
  bool transposes = false;
  std::string why;                  // this codec
  PackedSize size;                  // empty where the codec is none
  double pack_s = 0, unpack_s = 0;  // of a thread, per byte of records
  std::uint64_t sample_bytes = 0;

  // Returns what a run of so many records takes on the drive.
  [[nodiscard]] std::uint64_t run_bytes(const RunBlock& run_block, std::uint64_t records) const;
};

}  // namespace ecosort::planner
