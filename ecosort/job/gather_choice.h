// Decides whether large records are gathered from the inputs (engine/fixed/gather_records.h), or moved in runs.
#pragma once

#include <string>
#include <vector>

#include "engine/fixed/read_ahead.h"
#include "planner/plan.h"

namespace ecosort::job {

// Puts the way into `plan` if its inputs can be read in any order, and their drives answer such reads at once: that is
// measured by some reads, unless `asked` ("auto", "always", "never") says it. Returns why for people, one way or the other;
// nothing where it is out of the question. UsageError for another word.
[[nodiscard]] std::string choose_gather(planner::RecordPlan& plan, const std::vector<engine::fixed::Input>& inputs,
                                        const std::string& asked);

}  // namespace ecosort::job
