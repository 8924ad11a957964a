// The commands that sort rows share this, as ordinary sorts and as jobs that outlive a crash.
#pragma once

#include <string>
#include <vector>

#include "cli/advice.h"
#include "cli/command_line.h"
#include "cli/run_job.h"
#include "demsort_inplace/prepare/rows.h"
#include "job/space.h"

namespace ecosort::cli {

struct RowsCommand {
  Request sort;
  RunReports reports;
  engine::rows::FirstLook look = {};
};

// UsageError for what cannot be combined with --resumable, whatever is sorted, and for lines with --inplace.
void check_job(const CommandLine& line);

// Reports the sort at its end. `figures`: the job, but for what it works with; it outlives the result.
[[nodiscard]] JobResult result_of(const Request& request, engine::rows::LinesReport report,
                                  const engine::rows::LinesJob& figures);

// The request of a job with the means that are given this time, to continue with `file`. For a job that an older program began it
// is made from the words of its command line.
[[nodiscard]] Request request_of(const Means& now, const std::string& file, const demsort_inplace::JobHeader& header);

// Says how an ordinary sort of rows runs and reports.
struct RowsRun {
  const Request& request;
  const RunReports& reports;
  AdviceWords words;
  const char* threads_option;
  const char* done;  // "the sorted output is complete"
  double started_s = 0;
};
// Opens the queue, sorts, and writes the reports; returns the exit code.
int run_rows(const RowsRun& run, job::PreparedLines& prepared, job::Session& session);
// Prepares the request of the line first. `command` is the one whose options advice names.
int run_rows(const CommandLine& line, const char* command, const char* done, double started_s);

// A plan says this of a sort of rows: bounds, because their lengths show only when they are read.
[[nodiscard]] std::string lines_bounds_text(const engine::rows::LinesJob& job, std::uint64_t input_bytes,
                                            const std::vector<job::SpaceNeed>& space);

// Returns whether a plan is for rows that are not there. UsageError for what such a plan cannot have.
[[nodiscard]] bool plans_assumed_rows(const CommandLine& line, std::string_view command);

// Names what the command sorts: "lines" or "rows".
[[nodiscard]] const char* rows_noun(const std::string& command);

}  // namespace ecosort::cli
