// A plan as programs read it: schema "ecosort.plan/1"; units are in the names.
#pragma once

#include <nlohmann/json.hpp>

#include "plan/plan.h"

namespace ecosort::job {

[[nodiscard]] nlohmann::ordered_json plan_json(const planner::Plan& plan);

// How runs are compressed; null: not at all.
[[nodiscard]] nlohmann::ordered_json compression_json(const planner::PackingPlan& packing);

// The key fields as they were understood.
[[nodiscard]] nlohmann::ordered_json keys_json(const records::RecordFormat& format);

}  // namespace ecosort::job
