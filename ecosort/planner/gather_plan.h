// Plans the sort of records so large that they had better not be moved twice: their keys are read and sorted, and each record is
// read once, when its turn comes.
//
// Pure integer arithmetic. Whether the drives bear reads in such an order is not decided here (job/gather_choice.h).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "planner/plan.h"

namespace ecosort::planner {

inline constexpr std::uint32_t least_gathered_bytes = 12288;  // smaller records cost more in requests than in bytes

// Nothing: records of this kind, or as many, are moved in runs as `plan` says.
[[nodiscard]] std::optional<RecordPlan> plan_gather(const RecordPlan& plan);

// Sets the bytes that are read: whole units of each input.
void account_gather(RecordPlan& plan, const std::vector<InputExtent>& inputs);

}  // namespace ecosort::planner
