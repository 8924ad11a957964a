#include "planner/fit_merge.h"

#include <numeric>

#include "planner/arithmetic.h"

namespace ecosort::planner {

namespace {

constexpr std::uint64_t largest_output_block = 8 * MiB;
constexpr std::uint64_t most_waiting_of_run = 16 * MiB;  // on average
constexpr std::uint32_t most_stride = std::uint32_t{1} << 31U;
constexpr std::uint64_t largest_resident_block = 1 * MiB, least_resident_block = 64 * KiB;

// Needs memory where all runs are resident for output blocks, each with the index of its records and as much again to sort it. As
// many as keep all threads and the drive busy; they are ready in order only, though they are made in any.
std::optional<MergeBuffers> fit_resident_buffers(const RecordPlan& plan, std::uint64_t memory, std::uint64_t records) {
  const std::uint64_t size = plan.wanted.output_record_size();
  const std::uint64_t unit = transfer_unit(plan.wanted);
  const std::uint64_t fixed = unit + 2 * page_bytes;
  const unsigned threads = plan.wanted.threads_of_merge();
  const std::uint64_t enough = clip(memory / (fixed + largest_resident_block), 2 * threads + 4, 4 * threads + 8);
  MergeBuffers b;
  b.output_blocks =
      static_cast<unsigned>(clip(memory / (fixed + std::max(least_resident_block, size + 2 * entry_bytes)), 2, enough));
  const std::uint64_t each = memory / b.output_blocks;
  if (each < fixed + size + 2 * entry_bytes) return std::nullopt;
  const auto records_of = [&](std::uint64_t bytes) { return std::max<std::uint64_t>(bytes / (size + 2 * entry_bytes), 1); };
  const std::uint64_t block_records = std::min({records_of(each - fixed), records_of(largest_resident_block), records});
  if (block_records < std::min(records_of(least_resident_block), records)) return std::nullopt;
  b.output_block_bytes = round_up(block_records * size, page_bytes) + unit;
  b.index_bytes = round_up(2 * block_records * entry_bytes, page_bytes);
  return b;
}

// Chooses which adjacent runs to merge first so that at most `fan_in` remain for the last step, reading as few records twice as
// can be: each pass merges only as many groups as it must (Knuth, The Art of Computer Programming 3, 5.4.9, for equal lengths).
std::vector<MergeStep> reduce_runs(std::uint64_t runs, std::uint64_t fan_in, unsigned& passes) {
  std::vector<MergeStep> steps;
  passes = 1;
  while (runs > fan_in) {
    std::uint64_t target = fan_in;
    while (target * fan_in < runs) target *= fan_in;
    std::uint64_t excess = runs - target;
    std::uint32_t position = 0;
    while (excess > 0) {
      const std::uint64_t group = std::min(fan_in, excess + 1);
      steps.push_back({position++, static_cast<std::uint32_t>(group)});
      excess -= group - 1;
    }
    runs = target;
    ++passes;
  }
  steps.push_back({0, static_cast<std::uint32_t>(runs)});
  return steps;
}

std::uint64_t reserve_step(std::uint64_t output_bytes) { return round_up(clip(output_bytes / 256, MiB / 4, 256 * MiB), MiB / 4); }

}  // namespace

// One entry per `forecast_stride` run blocks, twice over, because an intermediate step holds the tables of its inputs and its
// output.
bool choose_forecast(RecordPlan& plan, unsigned memory_share) {
  const std::uint64_t budget = plan.wanted.memory_bytes / memory_share / 2;
  const std::uint64_t run_blocks = run_blocks_of(plan.run_block, plan.wanted.input_records);
  plan.forecast_stride = 1;
  if (plan.wanted.size_unknown) {
    plan.forecast_bytes = round_down(2 * budget, page_bytes);
    return true;
  }
  while (div_up(run_blocks, plan.forecast_stride) * forecast_entry_bytes > budget) {
    if (plan.forecast_stride == most_stride) return false;
    plan.forecast_stride *= 2;
  }
  // Each of the runs rounds up to a whole entry.
  plan.forecast_bytes = round_up(2 * div_up(run_blocks, plan.forecast_stride) * forecast_entry_bytes +
                                     std::min<std::uint64_t>(most_counted_runs, run_blocks) * forecast_entry_bytes,
                                 page_bytes);
  return true;
}

// Output blocks take an eighth; the rest are read blocks, at least two for each of `fan_in` runs. Empty if it cannot be.
std::optional<MergeBuffers> fit_merge_buffers(const RecordPlan& plan, std::uint64_t memory, std::uint64_t fan_in) {
  const std::uint64_t stride_bytes = std::uint64_t{plan.forecast_stride} * plan.run_block.bytes;
  const std::uint64_t output_unit = plan.run_block.bytes;
  const std::uint64_t unit = transfer_unit(plan.wanted);
  MergeBuffers b;
  b.output_blocks = 4;
  const std::uint64_t payload = round_up(clip(memory / 32, output_unit, largest_output_block), output_unit);
  b.output_block_bytes = payload + unit;  // one alignment unit carries the remainder of the block before
  const std::uint64_t output_bytes = b.output_block_bytes * b.output_blocks;
  if (output_bytes >= memory) return std::nullopt;
  const std::uint64_t for_reading = memory - output_bytes;
  const std::uint64_t per_block = for_reading / (2 * fan_in);
  b.block_bytes = clip(round_down(per_block, stride_bytes), stride_bytes, round_up(plan.wanted.requests.bytes, stride_bytes));
  b.blocks = static_cast<unsigned>(std::min<std::uint64_t>(for_reading / b.block_bytes, 1U << 20U));
  if (b.blocks < 2 * fan_in) return std::nullopt;
  return b;
}

std::uint64_t largest_fan_in(const RecordPlan& plan, std::uint64_t memory) {
  std::uint64_t low = 0, high = memory / plan.run_block.bytes + 1;
  while (low + 1 < high) {
    const std::uint64_t middle = (low + high) / 2;
    (fit_merge_buffers(plan, memory, middle) ? low : high) = middle;
  }
  return low;
}

std::optional<Merge> try_merge(const RecordPlan& plan, const std::vector<std::uint64_t>& runs, std::uint32_t resident_runs,
                               std::uint64_t resident_bytes) {
  const std::uint64_t taken = resident_bytes + plan.forecast_bytes + plan.packing.bytes();
  if (taken >= plan.wanted.memory_bytes) return std::nullopt;
  const std::uint64_t memory = plan.wanted.memory_bytes - taken;
  const std::uint64_t records = std::accumulate(runs.begin(), runs.end(), std::uint64_t{0});
  Merge merge;
  merge.resident_runs = resident_runs;
  merge.stored_runs = static_cast<std::uint32_t>(runs.size()) - resident_runs;
  if (merge.stored_runs == 0) {
    const auto buffers = fit_resident_buffers(plan, memory, records);
    if (!buffers) return std::nullopt;
    merge.final = *buffers;
    merge.steps.push_back({0, resident_runs});
    merge.reserve_bytes = reserve_step(records * plan.wanted.output_record_size());
    return merge;
  }
  const std::uint64_t widest = largest_fan_in(plan, memory);
  if (widest < 2 || (runs.size() > widest && resident_runs > 0)) return std::nullopt;
  merge.steps = reduce_runs(runs.size(), widest, merge.passes);
  std::uint64_t intermediate_fan_in = 0;
  for (std::size_t i = 0; i + 1 < merge.steps.size(); ++i)
    intermediate_fan_in = std::max<std::uint64_t>(intermediate_fan_in, merge.steps[i].fan_in);
  if (intermediate_fan_in > 0) merge.intermediate = *fit_merge_buffers(plan, memory, intermediate_fan_in);
  merge.final = *fit_merge_buffers(plan, memory, std::max<std::uint64_t>(merge.steps.back().fan_in, 1));
  const std::uint64_t bytes = records * plan.wanted.format.record_size;
  const std::uint64_t stored = merge.stored_runs_of_last_step();
  merge.waiting_bytes = stored * clip(bytes / 128 / stored, page_bytes, most_waiting_of_run);
  merge.reserve_bytes = reserve_step(records * plan.wanted.output_record_size());
  return merge;
}

}  // namespace ecosort::planner
