// `--resumable` of `ecosort lines`, `csv` and `jsonl`, and `ecosort lines --inplace`: such a sort, its plan, and `ecosort resume`
// of its job.
#pragma once

#include <optional>
#include <string>

#include "cli/inplace.h"
#include "cli/rows_command.h"
#include "demsort_inplace/prepare/rows.h"
#include "job/session.h"

namespace ecosort::cli {

// The exit code; nothing: an ordinary sort does it.
[[nodiscard]] std::optional<int> run_rows_job(const RowsCommand& command, double started_s);

// Prints the plan for people, or for programs; false: there is nothing to sort. NotEnoughSpace as the sort; programs have their
// plan then, too.
[[nodiscard]] bool plan_rows_job(const RowsCommand& command, bool is_json, io::PosixStorage& storage);

// Continues with the job, or removes it.
int resume_rows_job(const InPlaceOptions& given, inplace::JobStatus status, job::Session& session, double started_s,
                    bool abandons);

// What `resume --status` says behind its first line.
[[nodiscard]] std::string rows_status_text(const inplace::JobStatus& status);

}  // namespace ecosort::cli
