// A sorted run as the merge kernels see it: the blocks that are in memory, addressed by record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan/plan.h"

namespace ecosort::pipeline {

// Immutable while compute threads use it. Record numbers count from the start of the run.
//
//   blocks[0]                      blocks[1]
//   |granule|granule|...|granule|  |granule|...        a granule holds `records_per_granule` records, then padding
//   ^ record `first`
struct RunView {
  std::uint64_t first = 0;
  std::vector<const std::byte*> blocks;
  std::uint32_t records_per_granule = 1;
  std::uint32_t granules_per_block = 1;
  std::uint32_t granule_bytes = 0;
  std::uint32_t record_size = 0;

  [[nodiscard]] const std::byte* record(std::uint64_t number) const noexcept {
    const std::uint64_t granule = (number - first) / records_per_granule;
    const std::uint64_t within = (number - first) % records_per_granule;
    return blocks[granule / granules_per_block] + granule % granules_per_block * granule_bytes + within * record_size;
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
