// `--resumable` of `ecosort lines`, `csv` and `jsonl`, the plan of such a sort, and `ecosort resume` of its job.
#pragma once

#include <optional>
#include <string>

#include "cli/rows_command.h"
#include "demsort_inplace/prepare/rows.h"
#include "job/session.h"

namespace ecosort::cli {

// The exit code; nothing: an ordinary sort does it.
[[nodiscard]] std::optional<int> run_resumable_rows(const RowsCommand& command, double started_s);

// Prints the plan for people, or for programs; false: there is nothing to sort. NotEnoughSpace as the sort; programs have their
// plan then, too.
[[nodiscard]] bool plan_resumable_rows(const Request& request, bool is_json, io::PosixStorage& storage);

// Continues with the job, or removes it.
int resume_rows_job(const CommandLine& line, const JobRun& run, inplace::JobStatus status, job::Session& session,
                    double started_s, bool abandons);

// What `resume --status` says behind its first line.
[[nodiscard]] std::string rows_status_text(const inplace::JobStatus& status);

}  // namespace ecosort::cli
