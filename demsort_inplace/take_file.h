// The beginning of a job in place: every name and all the space that it will need are there for good before FILE is touched.
#pragma once

#include <cstdint>

#include "demsort_inplace/job_bench.h"

namespace ecosort::demsort_inplace {

// Creates the output and the spare file, which takes so many bytes, and makes the names in the job directory durable, and its
// own. UsageError where the file system gives out space in larger units than the job's, cannot reserve it, or (of lines) does not
// give it back where a hole is made.
[[nodiscard]] Task<void> take_space(JobBench& bench, std::uint64_t spare_bytes);

// FILE, which is open, becomes `input` of the job. IoError, with nothing changed, unless it still has `size_bytes` and is what it
// was in the state `before`, and unless its name leads to it. The names are not durable yet.
void take_file(JobBench& bench, const io::File& file, const io::FileState& before, std::uint64_t size_bytes);

// Names in the job directory, and its own and FILE's.
void sync_names(JobBench& bench);

}  // namespace ecosort::demsort_inplace
