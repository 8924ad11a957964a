// Puts rows behind an output, in the order of their inputs: those that a broken job had in no run yet.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/rows/first_rows.h"
#include "engine/rows/form_line_runs.h"
#include "engine/rows/line_blocks.h"
#include "engine/rows/read_lines.h"

namespace ecosort::engine::rows {

// Coordinator only; must outlive its task.
class AppendRows {
 public:
  // `first_rows` knows what the inputs must begin with.
  AppendRows(const RowTools& tools, FirstRows& first_rows, RowsRest& rest);

  // `sink`: what was put into it is written. The memory of the merge is free again.
  [[nodiscard]] Task<void> append_to(LineSink& sink);
  // Return the hashes of the rows that were read, and of those written, with the blank ones that a format leaves out.
  [[nodiscard]] const hash::MultisetHash& read() const noexcept { return reader_.hash(); }
  [[nodiscard]] hash::MultisetHash written() const { return written_ + reader_.dropped(); }
  [[nodiscard]] std::size_t longest() const noexcept { return longest_; }  // bytes, with the end

  // IoError where an input is not what it was.
  void check_inputs() { (void)reader_.check_unchanged(); }

 private:
  const RowTools tools_;
  std::vector<lines::DuplicateFilter> seen_;  // none: all rows stay
  ReadLines reader_;
  FormLineRuns former_;
  hash::MultisetHash written_;
  std::size_t longest_ = 0;
};

}  // namespace ecosort::engine::rows
