// The second phase of a job: its runs become the output, checkpoint by checkpoint (checkpoints.h).
#pragma once

#include <cstdint>
#include <vector>

#include "demsort_inplace/checkpoints.h"
#include "demsort_inplace/workbench.h"
#include "engine/fixed/merge_runs.h"
#include "engine/fixed/write_behind.h"

namespace ecosort::demsort_inplace {

// Appends to `file`, whose space is the checkpoints' business.
[[nodiscard]] engine::fixed::WriteBehind make_writer(Workbench& bench, io::File& file);

// A merge of what is left of these runs.
[[nodiscard]] engine::fixed::MergeRuns make_merge(Workbench& bench, const std::vector<std::uint64_t>& runs);

// Merges what is left into the output. Returns where that ends: all records are in the output then, their sums those of what was
// taken from the runs.
[[nodiscard]] Task<State> merge(Workbench& bench);

// VerificationError unless `end` stands for just the records that were read (promise P1), across all interruptions.
void verify(const Workbench& bench, const State& end);

}  // namespace ecosort::demsort_inplace
