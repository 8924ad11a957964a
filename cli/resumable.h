// `ecosort sort --resumable` and `ecosort plan sort --resumable`, and what these have in common with `ecosort inplace`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/run_job.h"
#include "cli/sort_options.h"
#include "demsort_inplace/prepare/records.h"
#include "job/session.h"

namespace ecosort::cli {

// Nothing, or false: there is no record to sort, so that there is nothing to resume either; an ordinary sort does it.
[[nodiscard]] std::optional<int> run_resumable(const SortOptions& options, job::Session& session, double started_s);
[[nodiscard]] bool plan_resumable(const SortOptions& options, io::PosixStorage& storage);

// Sorts records as a job, in place or beside its inputs. There are some; the exit code.
int run_records_job(const JobRun& run, const Request& request, inplace::PreparedRecords prepared, job::Session& session,
                    double started_s);

// As people read it, and as a program does.
[[nodiscard]] std::string resumable_plan_text(const SortOptions& options, const inplace::PreparedRecords& prepared);
[[nodiscard]] std::string resumable_plan_json(const SortOptions& options, const inplace::PreparedRecords& prepared);

}  // namespace ecosort::cli
