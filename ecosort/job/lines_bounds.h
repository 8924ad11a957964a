// Computes what a sort of lines takes: bounds, because lengths of lines show only when they are read.
#pragma once

#include <cstdint>

#include "base/memory.h"
#include "engine/rows/lines_sort.h"

namespace ecosort::job {

// Lengths of rows, with their ends.
struct RowLengths {
  std::uint64_t least = 1;
  double usual = 100;      // as in the first pages of the inputs, if they can be read twice
  std::uint64_t head = 0;  // in front of each row of a run
  std::size_t longest = page_bytes - 1;

  // Returns how many rows so many bytes have, if they are usual ones.
  [[nodiscard]] std::uint64_t rows_in(std::uint64_t bytes) const noexcept {
    return static_cast<std::uint64_t>(static_cast<double>(bytes) / usual);
  }
};
[[nodiscard]] RowLengths row_lengths_of(const engine::rows::LinesJob& job);

struct LinesBounds {
  std::uint64_t memory_bytes = 0, longest_line_bytes = 0;
  // Counts of what may have runs; no runs are certain where `most_runs` is 0.
  std::uint64_t fewest_runs = 0, most_runs = 0;
  std::uint64_t usual_runs = 0;  // with lines of usual_row_bytes
  std::uint64_t usual_row_bytes = 100;
  std::uint64_t runs_at_a_time = 0;             // that are merged, where no line is longer than a page
  unsigned fewest_merges = 0, most_merges = 0;  // of each line
  std::uint64_t usual_head_bytes = 0;           // of a shuffle, likewise, in front of the rows of its runs
  std::uint64_t most_temp_bytes = 0;
  std::uint64_t usual_temp_bytes = 0;  // with such lines, where runs are merged twice; else 0
};

// For inputs that hold `input_bytes` of lines; 0: no one knows yet, and only the first two are said, as for a merge.
[[nodiscard]] LinesBounds lines_bounds(const engine::rows::LinesJob& job, std::uint64_t input_bytes);

}  // namespace ecosort::job
