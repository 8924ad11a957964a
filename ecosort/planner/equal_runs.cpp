// Plans for runs that somebody else lays out.
#include "formats/records/record_table.h"
#include "planner/account.h"
#include "planner/arithmetic.h"
#include "planner/fit_formation.h"
#include "planner/fit_merge.h"

namespace ecosort::planner {

namespace {

// Run buffers and merge buffers for equal runs when the forecast tables may have a share of the memory.
std::optional<RecordPlan> try_equal_runs(RecordPlan plan, std::uint64_t run_records, std::uint64_t most_batch_bytes,
                                         unsigned run_buffers, unsigned forecast_share) {
  const std::uint64_t memory = plan.wanted.memory_bytes - plan.packing.bytes();
  const std::uint64_t runs = div_up(plan.wanted.input_records, run_records);
  const std::uint64_t for_forecast = memory / forecast_share;
  const auto buffers = fit_merge_buffers(plan, memory - for_forecast, runs);
  if (!buffers) return std::nullopt;
  plan.merge.final = *buffers;
  plan.forecast_stride = static_cast<std::uint32_t>(buffers->block_bytes / plan.run_block.bytes);
  plan.forecast_bytes = round_up(
      2 * forecast_entry_bytes * runs * div_up(run_blocks_of(plan.run_block, run_records), plan.forecast_stride), page_bytes);
  if (plan.forecast_bytes > for_forecast) return std::nullopt;
  const std::uint64_t unit = transfer_unit(plan.wanted);
  plan.merge.final.output_block_bytes =
      std::min(buffers->output_block_bytes,
               round_up(std::max<std::uint64_t>(most_batch_bytes, plan.wanted.format.record_size), page_bytes) + unit);
  plan.formation = formation_frame(plan, run_buffers);
  set_run_size(plan.formation, plan, run_records);
  const std::uint64_t slack = (2ULL * run_buffers + 2) * page_bytes;
  if (plan.formation.memory_bytes() + slack + plan.forecast_bytes > memory) return std::nullopt;
  return plan;
}

// With the places of all blocks, which a merge needs at a time. False: there is no memory for that.
bool plan_compression(RecordPlan& plan, std::uint64_t run_records) {
  const Wanted& wanted = plan.wanted;
  if (wanted.compression.is_none()) return true;
  const std::uint64_t runs = div_up(wanted.input_records, run_records);
  auto packing = plan_packing(
      {.memory_bytes = wanted.memory_bytes, .threads = wanted.threads, .block_bytes = plan.run_block.bytes, .of_records = true},
      wanted.compression);
  if (!packing) return false;
  if (packing->coders == 0) return true;
  packing->index_bytes = round_up(runs * run_blocks_of(plan.run_block, run_records) * place_bytes, page_bytes);
  packing->assumed_ratio = wanted.assumed_ratio;
  packing->power = wanted.power;
  plan.packing = *packing;
  return true;
}

// The first that fits of those with fewer and fewer run buffers and a larger forecast.
std::optional<RecordPlan> fit_equal_runs(const RecordPlan& frame, std::uint64_t run_records, std::uint64_t most_batch_bytes) {
  if (frame.packing.bytes() > frame.wanted.memory_bytes / 2) return std::nullopt;
  for (const unsigned run_buffers : {3U, 2U, 1U})
    for (const unsigned forecast_share : {16U, 4U})
      if (auto plan = try_equal_runs(frame, run_records, most_batch_bytes, run_buffers, forecast_share)) return plan;
  return std::nullopt;
}

// Fewer coders leave more memory to a job whose runs are as long as they are.
std::optional<RecordPlan> fit_with_fewer_coders(RecordPlan frame, std::uint64_t run_records, std::uint64_t most_batch_bytes) {
  for (;;) {
    if (auto plan = fit_equal_runs(frame, run_records, most_batch_bytes)) return plan;
    PackingPlan& packing = frame.packing;
    if (packing.coders <= 1) return std::nullopt;
    const std::uint64_t each = packing.coder_bytes / packing.coders;
    packing.coders = (packing.coders + 1) / 2;
    packing.coder_bytes = packing.coders * each;
  }
}

}  // namespace

std::optional<RecordPlan> plan_equal_runs(const Wanted& wanted, const RunBlock& run_block, std::uint64_t run_records,
                                          std::uint64_t most_batch_bytes) {
  RecordPlan frame;
  frame.wanted = wanted;
  frame.read_depth = frame.write_depth = wanted.requests.depth;
  frame.run_block = run_block;
  frame.shape = Shape::two_pass;
  if (run_records > records::RecordTable::most_records || div_up(wanted.input_records, run_records) > most_runs)
    return std::nullopt;
  if (!plan_compression(frame, run_records)) return std::nullopt;
  auto plan = fit_with_fewer_coders(frame, run_records, most_batch_bytes);
  if (!plan) return std::nullopt;
  std::vector<std::uint64_t> runs(div_up(wanted.input_records, run_records), run_records);
  runs.back() = wanted.input_records - (runs.size() - 1) * run_records;
  plan->merge.stored_runs = static_cast<std::uint32_t>(runs.size());
  plan->merge.steps = {{0, plan->merge.stored_runs}};
  plan->merge.passes = 1;
  account(*plan, runs);
  return plan;
}

}  // namespace ecosort::planner
