// Divides the memory of a merge: forecast tables, read and output blocks, and how many runs a step can take.
//
// Pure integer arithmetic. A `plan` that is passed has `wanted`, `run_block` and the forecast set (choose_forecast).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "planner/plan.h"

namespace ecosort::planner {

// Sets the stride with which the forecast tables take at most 1/`memory_share` of the memory, and their size. False: none does.
[[nodiscard]] bool choose_forecast(RecordPlan& plan, unsigned memory_share);

// For a step that merges `fan_in` runs; nothing if it cannot be.
[[nodiscard]] std::optional<MergeBuffers> fit_merge_buffers(const RecordPlan& plan, std::uint64_t memory, std::uint64_t fan_in);

// The most runs that a step can merge, 0 if none.
[[nodiscard]] std::uint64_t largest_fan_in(const RecordPlan& plan, std::uint64_t memory);

// All steps for `runs` (records of each), of which the last `resident_runs` take `resident_bytes` of memory; nothing if the
// memory does not allow it.
[[nodiscard]] std::optional<Merge> try_merge(const RecordPlan& plan, const std::vector<std::uint64_t>& runs,
                                             std::uint32_t resident_runs, std::uint64_t resident_bytes);

}  // namespace ecosort::planner
