// Small helpers of the plan's integer arithmetic.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/memory.h"
#include "plan/plan.h"

namespace ecosort::planner {

inline constexpr std::uint64_t KiB = 1024, MiB = 1024 * KiB;
inline constexpr std::uint64_t most_counted_runs = 4096;  // more than any two-pass plan has

[[nodiscard]] inline std::uint64_t clip(std::uint64_t value, std::uint64_t low, std::uint64_t high) {
  return std::max(low, std::min(value, high));
}

// So many run blocks hold `records`.
[[nodiscard]] inline std::uint64_t run_blocks_of(const RunBlock& run_block, std::uint64_t records) {
  return div_up(records, run_block.records);
}

// The unit of requests that bypass the page cache, and of memory for them.
[[nodiscard]] inline std::uint64_t transfer_unit(const Wanted& wanted) {
  return std::max<std::uint64_t>(wanted.input_alignment, page_bytes);
}

}  // namespace ecosort::planner
