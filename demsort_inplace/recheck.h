// Reads again what a crash left of the result, before anything more is given up for it.
//
// Records that the journal declared durable are in the output and nowhere else. A byte of them that changes while no one looks
// would end as a wrong result: the sums of the merge continue from the journal's, not from the file. So a resumption reads these
// records once more, and compares count, hash and order with the last state of the journal. (The rest of the input has no sum
// yet, and the runs carry checksums.)
#pragma once

#include "demsort_inplace/workbench.h"

namespace ecosort::demsort_inplace {

// The result is not what the journal says that was written to it.
struct OutputChanged : ExplainedIoError {
  using ExplainedIoError::ExplainedIoError;
};

// Says how what was read differs from what was written: the hashes, what they are of, and what is wrong where they agree.
struct OutputDifference {
  const hash::MultisetHash &found, &expected;
  const char *items, *disorder;
};
[[noreturn]] void refuse_output(const JobBench& bench, const io::File& result, const OutputDifference& difference);

// Bytes that a job which continues reads again: none where there is no state yet, or the drive is trusted.
[[nodiscard]] std::uint64_t recheck_bytes(const Workbench& bench, bool into_input);

// Reads an open result with a state in the journal; `into_input`: it is what is left of the input, to which runs are put back.
// OutputChanged, with nothing changed. Says in the report what was read, or that the drive was trusted.
[[nodiscard]] Task<void> recheck(Workbench& bench, const io::File& result, bool into_input);

}  // namespace ecosort::demsort_inplace
