// The commands that sort rows, as a job that outlives a crash needs them: `lines`, `csv`, `jsonl` with --resumable.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "cli/commands.h"
#include "cli/inplace.h"
#include "cli/run_job.h"
#include "cli/table_options.h"
#include "demsort_inplace/prepare/rows.h"
#include "formats/lines/grammar.h"

namespace ecosort::cli {

struct RowsCommand {
  inplace::RowsSpec sort;
  RunReports reports;
  lines::FirstLook look = {};
  // What is told of the sort at its end. `figures`: the job, but for what it works with.
  std::function<JobResult(lines::LinesReport report, const lines::LinesJob& figures)> result_of = {};
};

[[nodiscard]] RunReports reports_of(const lines::LinesOptions& options);

// UsageError for what goes without --resumable.
[[nodiscard]] RowsCommand rows_command(const lines::LinesOptions& options, const Words& words);
[[nodiscard]] RowsCommand rows_command(const TableOptions& options, const Words& words);

// Of `ecosort lines --inplace`. UsageError for what goes without it.
[[nodiscard]] RowsCommand lines_in_place_command(const lines::LinesOptions& options, const Words& words);

// The command of a job, whatever the environment says about words by now, with the means that are given this time. The keys of -R
// are what they were; the inputs are the journal's.
[[nodiscard]] RowsCommand rows_command(const InPlaceOptions& given, const inplace::JobHeader& header);

// What the command sorts: "lines" or "rows".
[[nodiscard]] const char* rows_noun(const std::string& command);

}  // namespace ecosort::cli
