// Jobs of rows: beside their inputs, which are only read (`ecosort lines --resumable`, csv and jsonl likewise), and lines in
// place. durable_job.h has the states that they go through.
//
// Beside their inputs runs stay whole until the output is complete, and several merges may be needed.
#pragma once

#include <string>

#include "demsort_inplace/job_bench.h"
#include "engine/rows/lines_sort.h"

namespace ecosort::demsort_inplace {

// Sorts the inputs of the job, which are open and those of the header, into `output`; what is there is replaced when the result
// is complete. In place `output` is FILE, the only input, which was found fit. Throws as sort_lines() does. Until the job
// directory is complete a failure leaves nothing behind; from then on the job can be resumed, whatever is thrown.
[[nodiscard]] engine::rows::LinesReport start_rows(const std::string& output, engine::rows::LinesJob job, const JobHeader& header,
                                                   const JobContext& environment);

// A job that is under way, or complete, to its end; one that was abandoned to that end. The job's inputs are taken from the
// journal. InputChanged where one is another file than it was; once all rows are in runs one may be missing.
[[nodiscard]] engine::rows::LinesReport resume_rows(const std::string& output, JobStatus status, engine::rows::LinesJob job,
                                                    const JobContext& environment);

// In place: makes one file of all lines again. Beside its inputs: removes the job and all that it made.
[[nodiscard]] engine::rows::LinesReport abandon_rows(const std::string& output, JobStatus status, const JobContext& environment);

}  // namespace ecosort::demsort_inplace
