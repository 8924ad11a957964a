// A sorted run as the merge kernels see it: the blocks that are in memory, addressed by record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "planner/plan.h"

namespace ecosort::engine::fixed {

// Immutable while compute threads use it. Record numbers count from the start of the run. RunBlocks follow each other in memory,
// or, where the run lies backwards in its file, precede each other: then the stride is negative.
//
//   blocks[0]                      blocks[1]
//   |run block|run block|...|run block|  |run block|...        a run block holds `records_per_run_block` records, then padding
//   ^ record `first`: blocks[i] points to its first run block in the order of the run
struct RunView {
  std::uint64_t first = 0;
  std::vector<const std::byte*> blocks;
  std::uint32_t records_per_run_block = 1;
  std::uint32_t run_blocks_per_block = 1;
  std::int64_t run_block_stride = 0;  // bytes from a run block of a block to the next one of the run
  std::uint32_t record_size = 0;

  [[nodiscard]] const std::byte* record(std::uint64_t number) const noexcept {
    const std::uint64_t run_block = (number - first) / records_per_run_block;
    const std::uint64_t within = (number - first) % records_per_run_block;
    return blocks[run_block / run_blocks_per_block] +
           static_cast<std::int64_t>(run_block % run_blocks_per_block) * run_block_stride + within * record_size;
  }
  // Records from `number` to the end of its run block: as many follow each other in memory.
  [[nodiscard]] std::uint64_t contiguous(std::uint64_t number) const noexcept {
    return records_per_run_block - (number - first) % records_per_run_block;
  }
};

// A part of a run: records [begin, end).
struct RunRange {
  std::uint64_t begin = 0, end = 0;
};

}  // namespace ecosort::engine::fixed
