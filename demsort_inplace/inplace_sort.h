// Sorting a file in its own space (DEMSort, Beckmann et al. 2010, section 4.2), so that no crash loses a record.
//
// Everything a job did is in its journal; whoever comes next continues from there. DESIGN.md tells why the order of the steps is
// as it is.
#pragma once

#include <string>

#include "demsort_inplace/job_status.h"
#include "demsort_inplace/workbench.h"

namespace ecosort::inplace {

// Sorts FILE, which `input` has open for reading and writing, and which the caller has found fit for it. Throws as sort() does.
// Until the job begins FILE is untouched and nothing stays behind; from then on the job can be resumed, whatever is thrown.
[[nodiscard]] engine::SortReport start(const std::string& path, io::FilePtr input, const JobHeader& header,
                                       const planner::Plan& plan, const Environment& environment);

// Continues with a job of fixed records that is under way or complete, to its end; with one that was abandoned to that end.
[[nodiscard]] engine::SortReport resume(const std::string& path, JobStatus status, const planner::Plan& plan,
                                        const Environment& environment);

// In place: puts the records of a job that is under way back into one file, unsorted, and gives it its name. A resumable sort:
// removes what it made.
[[nodiscard]] engine::SortReport abandon(const std::string& path, JobStatus status, const planner::Plan& plan,
                                         const Environment& environment);

}  // namespace ecosort::inplace
