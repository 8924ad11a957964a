#include "job/plan_partition.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/errors.h"
#include "base/memory.h"
#include "engine/partition/partition_records.h"
#include "job/plan_rows.h"
#include "job/prepare_records.h"
#include "planner/partition_rows_plan.h"

namespace ecosort::job {
namespace {

constexpr std::uint64_t usual_row_bytes = 100;
constexpr std::uint64_t places_of_row_bytes = 32;  // in the index of a run, which is sorted with a copy

// `plan` throws NotEnoughMemory for a byte, with what it needs.
template <class Plan>
std::uint64_t least_memory(const Plan& plan) {
  try {
    plan(1);
  } catch (const NotEnoughMemory& error) {
    return error.need_bytes;
  }
  throw InternalError("a partition needs no memory");
}

PartitionForecast plan_records(const Request& rows, const PartitionSize& size, planner::Wanted wanted) {
  const std::uint64_t record_bytes = records::size_of(records_of(rows));
  wanted.input_records = size.range_bytes / record_bytes;
  const auto plan = [&](std::uint64_t memory_bytes) {
    wanted.memory_bytes = memory_bytes;
    return planner::plan_partition({wanted, size.parts, size.is_sorted});
  };
  PartitionForecast forecast{.memory_bytes = wanted.memory_bytes, .threads = wanted.threads};
  const planner::PartitionPlan planned = plan(forecast.memory_bytes);
  forecast.block_bytes = planned.plan.formation.write_block_bytes;
  forecast.run_bytes = planned.plan.formation.run_records * record_bytes;
  if (size.is_sorted) forecast.runs = std::max<std::uint64_t>(planned.runs, 1);
  forecast.least_memory_bytes = least_memory(plan);
  return forecast;
}

PartitionForecast plan_rows(const PartitionSize& size, const planner::Wanted& wanted) {
  const auto plan = [&](std::uint64_t memory_bytes) {
    return planner::plan_partition_rows({memory_bytes, wanted.threads, size.parts, size.range_bytes, 0, size.is_sorted});
  };
  PartitionForecast forecast{.memory_bytes = wanted.memory_bytes, .threads = wanted.threads};
  const planner::PartitionRowsPlan planned = plan(forecast.memory_bytes);
  forecast.block_bytes = planned.slice_block_bytes;
  forecast.run_bytes = planned.lines.run_buffer_bytes / (usual_row_bytes + places_of_row_bytes) * usual_row_bytes;
  if (size.is_sorted) forecast.runs = std::max<std::uint64_t>(div_up(size.range_bytes, forecast.run_bytes), 1);
  forecast.least_memory_bytes = least_memory(plan);
  return forecast;
}

}  // namespace

PartitionForecast plan_partition(const Request& rows, const PartitionSize& size) {
  if (size.parts < 1 || size.parts > engine::partition::most_parts)
    throw UsageError(fmt::format("{} parts cannot be; give 1 to {}", size.parts, engine::partition::most_parts));
  planner::Wanted wanted;
  const planner::Machine machine = planner::read_machine();
  if (rows.format() == Format::records) return plan_records(rows, size, wanted_of(rows, {}, machine));
  wanted.memory_bytes = row_memory_of(rows.means);
  wanted.threads = std::min(rows.means.threads == 0 ? machine.cpus : rows.means.threads, planner::most_threads);
  return plan_rows(size, wanted);
}

}  // namespace ecosort::job
