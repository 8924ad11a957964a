// Divides the memory of run formation: run blocks, buffers, and the size of the runs.
//
// Pure integer arithmetic. A `plan` that is passed has `wanted` and `run_block` set; the rest of it is not looked at.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/plan.h"

namespace ecosort::planner {

// Packed blocks are twice as large: each takes whole pages.
enum class BlockUse : std::uint8_t { plain, packed };
[[nodiscard]] RunBlock choose_run_block(std::uint32_t record_size, std::uint64_t memory, BlockUse use);

// All that does not depend on the size of the runs.
[[nodiscard]] Formation formation_frame(const RecordPlan& plan, unsigned run_buffers);
void set_run_size(Formation& formation, const RecordPlan& plan, std::uint64_t run_records);

// The largest run with which the formation fits `memory`, or the one that is wanted; false if it does not.
[[nodiscard]] bool fit_run_size(Formation& formation, const RecordPlan& plan, std::uint64_t memory);

// Records of each run where all are merged from memory: equal, but for the last one.
[[nodiscard]] std::uint64_t one_pass_run(const Wanted& wanted, unsigned chunks);

[[nodiscard]] bool makes_too_many_runs(const Formation& formation, std::uint64_t records);
[[nodiscard]] std::vector<std::uint64_t> foresee_runs(const Formation& formation, std::uint64_t records);

}  // namespace ecosort::planner
