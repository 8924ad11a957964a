// A sorted run as the merge kernels see it: the blocks that are in memory, addressed by record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan/plan.h"

namespace ecosort::pipeline {

// Immutable while compute threads use it. Record numbers count from the start of the run. Granules follow each other in memory,
// or, where the run lies backwards in its file, precede each other: then the stride is negative.
//
//   blocks[0]                      blocks[1]
//   |granule|granule|...|granule|  |granule|...        a granule holds `records_per_granule` records, then padding
//   ^ record `first`: blocks[i] points to its first granule in the order of the run
struct RunView {
  std::uint64_t first = 0;
  std::vector<const std::byte*> blocks;
  std::uint32_t records_per_granule = 1;
  std::uint32_t granules_per_block = 1;
  std::int64_t granule_stride = 0;  // bytes from a granule of a block to the next one of the run
  std::uint32_t record_size = 0;

  [[nodiscard]] const std::byte* record(std::uint64_t number) const noexcept {
    const std::uint64_t granule = (number - first) / records_per_granule;
    const std::uint64_t within = (number - first) % records_per_granule;
    return blocks[granule / granules_per_block] + static_cast<std::int64_t>(granule % granules_per_block) * granule_stride +
           within * record_size;
  }
  // Records from `number` to the end of its granule: as many follow each other in memory.
  [[nodiscard]] std::uint64_t contiguous(std::uint64_t number) const noexcept {
    return records_per_granule - (number - first) % records_per_granule;
  }
};

// A part of a run: records [begin, end).
struct RunRange {
  std::uint64_t begin = 0, end = 0;
};

}  // namespace ecosort::pipeline
