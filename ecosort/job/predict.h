// Predicts what a planned sort of records will take on the machine of a profile, also where its runs are compressed: then by a
// sample of its input.
#pragma once

#include <vector>

#include "engine/fixed/read_ahead.h"
#include "planner/predict.h"

namespace ecosort::job {

// `inputs` are those of the plan; none: they are not there. Reads a bounded part of them, in some places, where runs are
// compressed.
[[nodiscard]] planner::MaybePrediction predict(const planner::RecordPlan& plan, const std::vector<engine::fixed::Input>& inputs,
                                               const planner::Profile& profile);

}  // namespace ecosort::job
