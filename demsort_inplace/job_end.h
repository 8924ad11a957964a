// The end that every kind of job has: the result is durable and gets its name, the rest is removed.
#pragma once

#include <string>

#include "demsort_inplace/job_bench.h"
#include "run/run_store.h"

namespace ecosort::inplace {

// `result` has its exact length and was verified: everything about it is durable before the journal says that it is all there is.
[[nodiscard]] Task<void> complete_result(JobBench& bench, io::File& result, State end, State::Kind kind);

// The journal says that the result, the file of that name in the job directory, is complete. It may have its final name already.
// `is_sorted`: it is what the user asked for, so that a kill in the last moment is told from one in the first.
void publish_and_clean_up(JobBench& bench, const std::string& result, bool is_sorted);

// A notice of what of the runs could not be read, once the job was given up as the drive has it.
void tell_unreadable(JobBench& bench, const run::RunStore& store);

}  // namespace ecosort::inplace
