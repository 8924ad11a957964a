// The commands that sort rows, as a job that outlives a crash needs them: `lines`, `csv`, `jsonl` with --resumable.
#pragma once

#include <cstdint>
#include <string>

#include "cli/commands.h"
#include "cli/inplace.h"
#include "cli/run_job.h"
#include "cli/table_options.h"
#include "demsort_inplace/prepare/rows.h"
#include "formats/lines/grammar.h"

namespace ecosort::cli {

struct RowsCommand {
  Request sort;
  RunReports reports;
  lines::FirstLook look = {};
};
[[nodiscard]] RowsCommand rows_command(const lines::LinesOptions& options);
[[nodiscard]] RowsCommand rows_command(const TableOptions& options);

[[nodiscard]] RunReports reports_of(const lines::LinesOptions& options);

// UsageError for what cannot be combined with --resumable, or with --inplace.
void check_job(const lines::LinesOptions& options);
void check_job(const TableOptions& options);

// What is told of the sort at its end. `figures`: the job, but for what it works with; it outlives the result.
[[nodiscard]] JobResult result_of(const Request& request, lines::LinesReport report, const lines::LinesJob& figures);

// The request of a job with the means that are given this time. Of a job that an older program began it is made from its words.
[[nodiscard]] Request request_of(const InPlaceOptions& given, const inplace::JobHeader& header);

// What the command sorts: "lines" or "rows".
[[nodiscard]] const char* rows_noun(const std::string& command);

}  // namespace ecosort::cli
