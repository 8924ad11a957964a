// Plans the space of a resumable sort of lines, and how it divides its work. A pure integer function.
//
// Runs stay whole until the output is complete, so that both are there at the same time. How many runs there are depends on the
// lengths of the lines, which show when they are read: each line takes 32 bytes of a run buffer besides its own. Counted are the
// runs of lines of 16 bytes on average; shorter ones make more, and each may leave a block of padding. Where that does not fit
// the sort stops as on any full drive, and continues when there is room.
#pragma once

#include <cstdint>

#include "demsort_inplace/job_records.h"
#include "planner/line_plan.h"

namespace ecosort::demsort_inplace {

inline constexpr std::uint64_t counted_line_bytes = 16;

struct LinesSpace {
  std::uint64_t runs = 0;          // at most, of such lines
  std::uint64_t run_bytes = 0;     // of all of them
  std::uint64_t output_bytes = 0;  // or what a merge of runs into fewer takes before that, if it is more
  std::uint64_t journal_bytes = 0;
  std::uint64_t metadata_bytes = 0;  // of the file system about our files: an allowance
  std::uint64_t held_bytes = 0;      // counted as free by the file system, but not always given out
  std::uint64_t checkpoints = 0;     // about so many

  [[nodiscard]] std::uint64_t need_bytes() const noexcept {
    return run_bytes + output_bytes + journal_bytes + metadata_bytes + held_bytes;
  }
};

// `header` has its inputs, unit and interval.
[[nodiscard]] LinesSpace lines_space(const JobHeader& header, const planner::LinePlan& plan, std::uint64_t held_bytes);

// So much output at least lies between two checkpoints.
[[nodiscard]] std::uint64_t line_interval_bytes(std::uint64_t input_bytes) noexcept;

// Most runs that one merge can take with this plan, if all lines are short.
[[nodiscard]] std::uint64_t most_merged_runs(const planner::LinePlan& plan) noexcept;

}  // namespace ecosort::demsort_inplace
