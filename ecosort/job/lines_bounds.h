// Computes what a sort of lines takes: bounds, because lengths of lines show only when they are read.
#pragma once

#include <cstdint>

#include "engine/rows/lines_sort.h"

namespace ecosort::job {

struct LinesBounds {
  std::uint64_t memory_bytes = 0, longest_line_bytes = 0;
  // Counts of what may have runs; no runs are certain where `most_runs` is 0.
  std::uint64_t fewest_runs = 0, most_runs = 0;
  std::uint64_t usual_runs = 0;  // with lines of usual_row_bytes: 100, unless their size is known
  std::uint64_t usual_row_bytes = 100;
  std::uint64_t runs_at_a_time = 0;             // that are merged, where no line is longer than a page
  unsigned fewest_merges = 0, most_merges = 0;  // of each line
  std::uint64_t usual_head_bytes = 0;           // of a shuffle, likewise, in front of the rows of its runs
  std::uint64_t most_temp_bytes = 0;
};

// For inputs that hold `input_bytes` of lines; 0: no one knows yet, and only the first two are said, as for a merge.
[[nodiscard]] LinesBounds lines_bounds(const engine::rows::LinesJob& job, std::uint64_t input_bytes);

}  // namespace ecosort::job
