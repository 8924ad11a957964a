// The end of a job: its result is verified as a whole, durable, and has its name; then everything else is removed.
#pragma once

#include <string>

#include "demsort_inplace/workbench.h"

namespace ecosort::inplace {

// VerificationError unless `end` stands for just the records that were read (promise P1), across all interruptions.
void verify(const Workbench& bench, const State& end);

// `--verify=reread`: what the device gives back of the output is what went in, in order; else VerificationError.
[[nodiscard]] Task<void> reread(Workbench& bench, const State& end);

// `result` has its exact length, and everything about it is durable, before the journal says that it is all there is. Verifies.
[[nodiscard]] Task<void> complete(Workbench& bench, io::File& result, State end, State::Kind kind);

// The journal says that the result, the file of that name in the job directory, is complete. It may have its final name already.
[[nodiscard]] engine::SortReport publish_result(Workbench& bench, const std::string& result);

}  // namespace ecosort::inplace
