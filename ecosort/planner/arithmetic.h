// Small helpers of the plan's integer arithmetic.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/memory.h"
#include "planner/plan.h"

namespace ecosort::planner {

inline constexpr std::uint64_t most_counted_runs = 4096;                     // more than any two-pass plan has
inline constexpr std::uint64_t most_memory_bytes = std::uint64_t{1} << 60U;  // where a search for enough of it ends

[[nodiscard]] inline std::uint64_t clip(std::uint64_t value, std::uint64_t low, std::uint64_t high) {
  return std::max(low, std::min(value, high));
}

// The least number that works, or at most `precision` more; `low` does not, `high` does.
template <class Works>
[[nodiscard]] std::uint64_t least_that_works(std::uint64_t low, std::uint64_t high, std::uint64_t precision, const Works& works) {
  while (high - low > precision) {
    const std::uint64_t middle = low + (high - low) / 2;
    (works(middle) ? high : low) = middle;
  }
  return high;
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
