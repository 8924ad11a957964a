// Writes the rows of a sort that fit one run buffer: they are sorted there, and gathered into the output.
#pragma once

#include "engine/rows/form_line_runs.h"
#include "engine/rows/lines_sort.h"
#include "engine/rows/merge_lines.h"
#include "engine/rows/row_output.h"

namespace ecosort::engine::rows {

// Coordinator only; must outlive its task.
class WriteResident {
 public:
  // All outlive this. The run is resident() of the former.
  WriteResident(const LinesJob& job, Bench& bench, FormLineRuns& former, RowOutput& out)
      : job_(job), bench_(bench), former_(former), out_(out) {}

  // VerificationError where groups do not add up.
  [[nodiscard]] Task<void> write();
  // Returns what a merge to the output would; no rows were taken from runs.
  [[nodiscard]] const MergedLines& written() const noexcept { return written_; }

 private:
  Task<void> write_rows(const lines::LineRun& run);
  Task<void> write_groups(const lines::LineRun& run);
  Task<void> skip(const lines::LineRun& run, std::size_t rows);

  const LinesJob& job_;
  Bench& bench_;
  FormLineRuns& former_;
  RowOutput& out_;
  MergedLines written_;
};

}  // namespace ecosort::engine::rows
