// The second phase of a job of lines: runs become as few as one merge can take, and then the output.
//
//   merge of some runs   merged run durable, its name too -> both sums equal -> journal says so -> its sources removed
//   last merge           checkpoint by checkpoint (line_checkpoints.h); all runs stay whole until the output is complete,
//                        but in place (given_space.h), where one merge takes all runs from the beginning
#pragma once

#include <string>

#include "demsort_inplace/lines_bench.h"

namespace ecosort::demsort_inplace {

// For the merges before the last one.
[[nodiscard]] planner::LinePlan plan_of_groups(const LinesBench& bench);

// Until one merge can take all runs. Coordinator only.
[[nodiscard]] Task<void> merge_until_one_can(LinesBench& bench);

// In place: NotEnoughMemory unless one merge can take all runs.
void require_one_merge(const LinesBench& bench);

// The header's lines, as the journal knows them.
[[nodiscard]] Task<std::string> read_header(LinesBench& bench);

// Continues from the last state, which there is. The output has the bytes that it says, whole units of them. Returns where the
// merge ends: every line is in the output, their sums those of what was read; else VerificationError.
[[nodiscard]] Task<State> merge_to_output(LinesBench& bench, const std::string& header);

}  // namespace ecosort::demsort_inplace
