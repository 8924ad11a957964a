// Plans for runs that somebody else lays out.
#include <utility>

#include "formats/records/record_table.h"
#include "planner/account.h"
#include "planner/arithmetic.h"
#include "planner/fit_formation.h"
#include "planner/fit_merge.h"

namespace ecosort::planner {

namespace {

constexpr std::uint64_t window_entries = 128;     // of each run; half of them are read at a time
constexpr std::uint64_t most_reads_of_keys = 64;  // at the same time, of two units each

// The memory that the forecast of equal runs may take, in which form.
struct Forecasting {
  std::uint64_t most_bytes = 0;
  std::uint64_t window = 0;  // entries of each run; 0: all
};

std::uint64_t entries_of_run(const RecordPlan& plan, const EqualRuns& equal) {
  return div_up(run_blocks_of(plan.run_block, equal.run_records), plan.forecast_stride);
}

std::uint64_t window_bytes(const Wanted& wanted, std::uint64_t runs) {
  return runs * window_entries * forecast_entry_bytes + most_reads_of_keys * 2 * std::max(wanted.input_alignment, page_bytes);
}

// All entries of all runs; or a window of each and the checksums of all that is read, and all entries of runs that are being
// formed.
std::uint64_t forecast_bytes(const RecordPlan& plan, const EqualRuns& equal, std::uint64_t runs, const Forecasting& forecasting,
                             unsigned run_buffers) {
  const std::uint64_t entries = entries_of_run(plan, equal), of_run = entries * forecast_entry_bytes;
  if (forecasting.window == 0) return round_up(runs * of_run, page_bytes);
  const std::uint64_t sums = runs * div_up(entries, window_entries / 2) * sizeof(std::uint32_t);
  return round_up(window_bytes(plan.wanted, runs) + sums + (run_buffers + 1) * of_run, page_bytes);
}

// Run buffers and merge buffers for equal runs. There is one merge only, so that no step holds tables of its output beside those
// of its inputs.
std::optional<RecordPlan> try_equal_runs(RecordPlan plan, const EqualRuns& equal, unsigned run_buffers,
                                         const Forecasting& forecasting) {
  const std::uint64_t memory = plan.wanted.memory_bytes - plan.packing.bytes();
  const std::uint64_t runs = div_up(plan.wanted.input_records, equal.run_records);
  if (forecasting.most_bytes >= memory) return std::nullopt;
  const auto buffers = fit_merge_buffers(plan, memory - forecasting.most_bytes, runs);
  if (!buffers) return std::nullopt;
  plan.merge.final = *buffers;
  plan.forecast_stride = static_cast<std::uint32_t>(buffers->block_bytes / plan.run_block.bytes);
  plan.forecast_window = forecasting.window;
  plan.forecast_bytes = forecast_bytes(plan, equal, runs, forecasting, run_buffers);
  if (plan.forecast_bytes > forecasting.most_bytes) return std::nullopt;
  if (forecasting.window > 0 && entries_of_run(plan, equal) > equal.most_kept_entries) return std::nullopt;
  const std::uint64_t unit = transfer_unit(plan.wanted);
  plan.merge.final.output_block_bytes =
      std::min(buffers->output_block_bytes,
               round_up(std::max<std::uint64_t>(equal.most_batch_bytes, plan.wanted.format.record_size), page_bytes) + unit);
  plan.formation = formation_frame(plan, run_buffers);
  set_run_size(plan.formation, plan, equal.run_records);
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

// The first that fits of those with fewer and fewer run buffers and a larger forecast; then of those with windows of it.
std::optional<RecordPlan> fit_equal_runs(const RecordPlan& frame, const EqualRuns& equal) {
  const std::uint64_t memory = frame.wanted.memory_bytes;
  if (frame.packing.bytes() > memory / 2) return std::nullopt;
  const std::uint64_t rest = memory - frame.packing.bytes();
  for (const unsigned run_buffers : {3U, 2U, 1U})
    for (const unsigned share : {16U, 4U, 2U})
      if (auto plan = try_equal_runs(frame, equal, run_buffers, {rest / share, 0})) return plan;
  if (equal.most_kept_entries == 0) return std::nullopt;
  const std::uint64_t windows = window_bytes(frame.wanted, div_up(frame.wanted.input_records, equal.run_records));
  for (const unsigned run_buffers : {3U, 2U, 1U})
    if (auto plan = try_equal_runs(frame, equal, run_buffers, {windows + rest / 16, window_entries})) return plan;
  return std::nullopt;
}

// Fewer coders leave more memory to a job whose runs are as long as they are.
std::optional<RecordPlan> fit_with_fewer_coders(RecordPlan frame, const EqualRuns& equal) {
  for (;;) {
    if (auto plan = fit_equal_runs(frame, equal)) return plan;
    PackingPlan& packing = frame.packing;
    if (packing.coders <= 1) return std::nullopt;
    const std::uint64_t each = packing.coder_bytes / packing.coders;
    packing.coders = (packing.coders + 1) / 2;
    packing.coder_bytes = packing.coders * each;
  }
}

}  // namespace

std::optional<RecordPlan> plan_equal_runs(const Wanted& wanted, const EqualRuns& equal) {
  RecordPlan frame;
  frame.wanted = wanted;
  frame.read_depth = frame.write_depth = wanted.requests.depth;
  frame.run_block = equal.run_block;
  frame.shape = Shape::two_pass;
  const std::uint64_t run_records = equal.run_records;
  if (run_records > records::RecordTable::most_records || div_up(wanted.input_records, run_records) > most_runs)
    return std::nullopt;
  if (!plan_compression(frame, run_records)) return std::nullopt;
  auto plan = fit_with_fewer_coders(frame, equal);
  if (!plan) return std::nullopt;
  std::vector<std::uint64_t> runs(div_up(wanted.input_records, run_records), run_records);
  runs.back() = wanted.input_records - (runs.size() - 1) * run_records;
  plan->merge.stored_runs = static_cast<std::uint32_t>(runs.size());
  plan->merge.steps = {{0, plan->merge.stored_runs}};
  plan->merge.passes = 1;
  account(*plan, std::move(runs));
  return plan;
}

}  // namespace ecosort::planner
