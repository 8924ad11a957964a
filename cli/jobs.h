// Jobs that outlive a crash, in place or beside: they run, print their plans and their status, and continue.
#pragma once

#include <optional>
#include <string>

#include "cli/rows_command.h"
#include "demsort_inplace/prepare/in_place.h"
#include "demsort_inplace/prepare/resumable.h"
#include "demsort_inplace/prepare/rows.h"
#include "job/session.h"

namespace ecosort::cli {

// Each returns the exit code. Nothing, or false: there is nothing to sort, so that there is nothing to resume either; an ordinary
// sort does it.
[[nodiscard]] std::optional<int> run_resumable(const CommandLine& line, job::Session& session, double started_s);
[[nodiscard]] std::optional<int> run_resumable_rows(const RowsCommand& command, double started_s);
int run_lines_in_place(const RowsCommand& command, double started_s);

// Print the plan for people, or for programs. Throw NotEnoughSpace as the sort does; programs have their plan then, too.
int plan_inplace(const Words& words);
[[nodiscard]] bool plan_resumable(const CommandLine& line, io::PosixStorage& storage);
[[nodiscard]] bool plan_resumable_rows(const Request& request, bool is_json, io::PosixStorage& storage);
void plan_lines_in_place(const Request& request, bool is_json, io::PosixStorage& storage);

// The plans of records, as people read them, and as a program does.
[[nodiscard]] std::string inplace_plan_text(const CommandLine& line, const inplace::PreparedInPlace& prepared);
[[nodiscard]] std::string inplace_plan_json(const CommandLine& line, const inplace::PreparedInPlace& prepared);
[[nodiscard]] std::string resumable_plan_text(const CommandLine& line, const inplace::PreparedResumable& prepared);
[[nodiscard]] std::string resumable_plan_json(const CommandLine& line, const inplace::PreparedResumable& prepared);

// Continues with a job of rows, or removes it.
int resume_rows_job(const CommandLine& line, const JobRun& run, inplace::JobStatus status, job::Session& session,
                    double started_s, bool abandons);

// What `resume --status` says behind its first line.
[[nodiscard]] std::string rows_status_text(const inplace::JobStatus& status);

}  // namespace ecosort::cli
