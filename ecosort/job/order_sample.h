// Finds out by a few records of each whether inputs look as if they were in order already.
#pragma once

#include <vector>

#include "engine/fixed/read_ahead.h"
#include "planner/plan.h"

namespace ecosort::job {

// Records at even distances of every input, the first and the last one among them, ascend: then runs of these inputs will hardly
// be stored. False also where there are too few of them, no runs, or where they cannot be read.
[[nodiscard]] bool samples_ascend(const planner::RecordPlan& plan, const std::vector<engine::fixed::Input>& inputs);

}  // namespace ecosort::job
