// What a plan moves and takes: bytes, space, memory, and how plans compare.
//
// Pure integer arithmetic.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "plan/plan.h"

namespace ecosort::planner {

// Sets everything in `plan` that follows from its buffers and its steps for `runs` (records of each).
void account(Plan& plan, const std::vector<std::uint64_t>& runs);

// Less is better: bytes moved first.
[[nodiscard]] std::pair<std::uint64_t, std::uint64_t> cost(const Plan& plan);

}  // namespace ecosort::planner
