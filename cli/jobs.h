// Jobs that outlive a crash, in place or beside: they run, print their plans and their status, and continue.
#pragma once

#include <optional>
#include <string>

#include "base/json.h"
#include "cli/rows_command.h"
#include "demsort_inplace/prepare/records.h"
#include "demsort_inplace/prepare/rows.h"
#include "job/session.h"

namespace ecosort::cli {

// Each returns the exit code. Nothing, or false: there is nothing to sort, so that there is nothing to resume either; an ordinary
// sort does it.
[[nodiscard]] std::optional<int> run_resumable(const CommandLine& line, job::Session& session, double started_s);
[[nodiscard]] std::optional<int> run_rows_job(const RowsCommand& command, double started_s);
// There are records.
int run_records_job(const JobRun& run, const Request& request, demsort_inplace::prepare::PreparedRecordsJob prepared,
                    job::Session& session, double started_s);

// Print the plan for people, or for programs. Throw NotEnoughSpace as the sort does; programs have their plan then, too.
[[nodiscard]] bool plan_resumable(const CommandLine& line, io::PosixStorage& storage);
[[nodiscard]] bool plan_rows_job(const Request& request, bool is_json, io::PosixStorage& storage);

// The plans, as people read them, and as a program does.
[[nodiscard]] Json in_place_plan_json(const demsort_inplace::prepare::PreparedRowsJob& prepared);
[[nodiscard]] std::string in_place_plan_text(const demsort_inplace::prepare::PreparedRowsJob& prepared);
[[nodiscard]] std::string inplace_plan_text(const CommandLine& line,
                                            const demsort_inplace::prepare::PreparedRecordsJob& prepared);
[[nodiscard]] std::string inplace_plan_json(const CommandLine& line,
                                            const demsort_inplace::prepare::PreparedRecordsJob& prepared);
[[nodiscard]] std::string resumable_plan_text(const CommandLine& line,
                                              const demsort_inplace::prepare::PreparedRecordsJob& prepared);
[[nodiscard]] std::string resumable_plan_json(const CommandLine& line,
                                              const demsort_inplace::prepare::PreparedRecordsJob& prepared);

// Continues with a job of rows, or removes it.
int resume_rows_job(const CommandLine& line, const JobRun& run, demsort_inplace::JobStatus status, job::Session& session,
                    double started_s, bool abandons);

// Returns what `resume --status` says behind its first line.
[[nodiscard]] std::string rows_status_text(const demsort_inplace::JobStatus& status);

}  // namespace ecosort::cli
