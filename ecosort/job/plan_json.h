// A plan as programs read it: schema "ecosort.plan/1"; units are in the names.
#pragma once

#include "base/json.h"
#include "planner/plan.h"

namespace ecosort::job {

[[nodiscard]] Json plan_json(const planner::RecordPlan& plan);

// Says how runs are compressed; null: not at all.
[[nodiscard]] Json compression_json(const planner::PackingPlan& packing);

// The key fields as they were understood.
[[nodiscard]] Json keys_json(const records::RecordFormat& format);

}  // namespace ecosort::job
