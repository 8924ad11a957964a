// Jobs of fixed records: in place, which is DEMSort (Beckmann et al. 2010, section 4.2) so that no crash loses a record, and
// beside its inputs, which are only read (`ecosort sort --resumable`). durable_job.h has the states that they go through.
#pragma once

#include <string>
#include <vector>

#include "demsort_inplace/job_status.h"
#include "demsort_inplace/workbench.h"

namespace ecosort::demsort_inplace {

// Returns what a job must remember of its inputs. `inputs` are regular files.
[[nodiscard]] std::vector<InputIdentity> identities(const std::vector<engine::fixed::Input>& inputs);

// Sorts the inputs, which are open and were found fit: in place FILE at `path`, open for reading and writing, else those of the
// header into `path`, where what is there is replaced when the result is complete. Throws as sort() does. Until the job begins a
// failure leaves nothing behind and FILE untouched; from then on the job can be resumed, whatever is thrown.
[[nodiscard]] engine::fixed::SortReport start(const std::string& path, std::vector<engine::fixed::Input> inputs,
                                              const JobHeader& header, const planner::RecordPlan& plan,
                                              const JobContext& environment);

// Continues with a job that is under way or complete, to its end; with one that was abandoned to that end. InputChanged where an
// input is another file than it was; once all records are in runs an input may be missing.
[[nodiscard]] engine::fixed::SortReport resume(const std::string& path, JobStatus status, const planner::RecordPlan& plan,
                                               const JobContext& environment);

// In place: puts the records of a job that is under way back into one file, unsorted, and gives it its name. Beside its inputs:
// removes the job and all that it made.
[[nodiscard]] engine::fixed::SortReport abandon(const std::string& path, JobStatus status, const planner::RecordPlan& plan,
                                                const JobContext& environment);

}  // namespace ecosort::demsort_inplace
