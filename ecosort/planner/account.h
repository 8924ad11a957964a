// Counts what a plan moves and takes: bytes, space, memory, and compares plans.
//
// Pure integer arithmetic.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "planner/plan.h"

namespace ecosort::planner {

// Counts in bytes what the merge does to the run files.
struct RunTraffic {
  std::uint64_t at_first = 0;  // after run formation
  std::uint64_t remerged = 0;  // written, and read, once more by intermediate steps
  std::uint64_t at_most = 0;   // at the same time: an intermediate step still holds its runs while it writes
};

// Adds up the runs and the steps of the plan, where a run of so many records takes `bytes_of` them.
[[nodiscard]] RunTraffic run_traffic(const RecordPlan& plan, const std::function<std::uint64_t(std::uint64_t records)>& bytes_of);

// Sets everything in `plan` that follows from its buffers and its steps for `runs` (records of each).
void account(RecordPlan& plan, std::vector<std::uint64_t> runs);

// Less is better: bytes moved first.
[[nodiscard]] std::pair<std::uint64_t, std::uint64_t> cost(const RecordPlan& plan);

}  // namespace ecosort::planner
