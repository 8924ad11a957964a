// `ecosort lines --resumable`: the external sort of lines whose runs and checkpoints outlive a crash.
//
// The same job as a resumable sort of records, in `OUTPUT.ecosort/`, but that runs stay whole until the output is complete, and
// that several merges may be needed.
#pragma once

#include <string>

#include "demsort_inplace/job_bench.h"
#include "engine/rows/lines_sort.h"

namespace ecosort::inplace {

// Sorts the inputs of the job, which are open and those of the header, into `output`; what stands there is replaced when the
// result is complete. Throws as sort_lines() does. Until the job directory is complete a failure leaves nothing behind; from then
// on the job can be resumed, whatever is thrown.
[[nodiscard]] lines::LinesReport start_resumable_lines(const std::string& output, lines::LinesJob job, const JobHeader& header,
                                                       const Environment& environment);

// A job that is under way, or complete, to its end; one that was abandoned to that end. The job's inputs are taken from the
// journal. InputChanged where one is another file than it was; once all lines are in runs one may be missing.
[[nodiscard]] lines::LinesReport resume_lines(const std::string& output, JobStatus status, lines::LinesJob job,
                                              const Environment& environment);

// Removes the job and all that it made.
[[nodiscard]] lines::LinesReport abandon_lines(const std::string& output, JobStatus status, const Environment& environment);

// Bytes of the output, at most: each input may lack the end of its last line.
[[nodiscard]] std::uint64_t most_output_bytes(const JobHeader& header) noexcept;

}  // namespace ecosort::inplace
