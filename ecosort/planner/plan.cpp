#include "planner/plan.h"

#include <fmt/format.h>

#include <array>
#include <numeric>
#include <optional>

#include "base/errors.h"
#include "base/size_text.h"
#include "formats/records/record_table.h"
#include "planner/account.h"
#include "planner/arithmetic.h"
#include "planner/fit_formation.h"
#include "planner/fit_merge.h"

namespace ecosort::planner {

namespace {

constexpr unsigned one_pass_chunks = records::RecordTable::most_arrays;

// Returns the memory that both phases have besides their buffers.
std::uint64_t besides(const RecordPlan& plan) { return plan.forecast_bytes + plan.packing.bytes(); }

std::optional<RecordPlan> try_one_pass(RecordPlan plan) {
  const std::uint64_t records = plan.wanted.input_records;
  const std::uint64_t bytes = records * plan.wanted.format.record_size;
  const auto chunks = static_cast<unsigned>(clip(bytes / MiB, 1, std::min<std::uint64_t>(one_pass_chunks, records)));
  plan.shape = Shape::one_pass;
  plan.forecast_stride = 1;
  plan.forecast_bytes = 0;
  plan.formation = formation_frame(plan, chunks);
  plan.formation.write_blocks = 0;
  set_run_size(plan.formation, plan, one_pass_run(plan.wanted, chunks));
  if (plan.formation.run_records > records::RecordTable::most_records) return std::nullopt;
  if (plan.formation.memory_bytes() > plan.wanted.memory_bytes) return std::nullopt;
  std::vector<std::uint64_t> runs;
  for (std::uint64_t left = records; left > 0; left -= runs.back()) runs.push_back(std::min(plan.formation.run_records, left));
  const std::uint64_t resident = runs.size() * (plan.formation.run_buffer_bytes + plan.formation.index_bytes);
  const auto merge = try_merge(plan, runs, static_cast<std::uint32_t>(runs.size()), resident);
  if (!merge) return std::nullopt;
  plan.merge = *merge;
  account(plan, std::move(runs));
  return plan;
}

std::optional<RecordPlan> try_external(RecordPlan plan, unsigned run_buffers, std::uint32_t resident_runs,
                                       unsigned forecast_share) {
  if (!choose_forecast(plan, forecast_share)) return std::nullopt;
  plan.formation = formation_frame(plan, run_buffers);
  if (besides(plan) >= plan.wanted.memory_bytes) return std::nullopt;
  if (!fit_run_size(plan.formation, plan, plan.wanted.memory_bytes - besides(plan))) return std::nullopt;
  if (makes_too_many_runs(plan.formation, plan.wanted.input_records)) return std::nullopt;
  std::vector<std::uint64_t> runs = foresee_runs(plan.formation, plan.wanted.input_records);
  if (resident_runs >= runs.size()) return std::nullopt;
  const std::uint64_t resident = resident_runs * (plan.formation.run_buffer_bytes + plan.formation.index_bytes);
  const auto merge = try_merge(plan, runs, resident_runs, resident);
  if (!merge) return std::nullopt;
  plan.merge = *merge;
  plan.shape = merge->passes > 1 ? Shape::multi_pass : Shape::two_pass;
  account(plan, std::move(runs));
  return plan;
}

// Tries all ways to divide the memory, and returns the cheapest one.
std::optional<RecordPlan> best_external(const RecordPlan& frame) {
  std::optional<RecordPlan> best;
  for (const unsigned forecast_share : {16U, 8U, 4U}) {
    for (const unsigned run_buffers : {2U, 3U, 4U}) {
      for (std::uint32_t resident = 0; resident < run_buffers; ++resident) {
        auto plan = try_external(frame, run_buffers, resident, forecast_share);
        if (plan && (!best || cost(*plan) < cost(*best))) best = std::move(plan);
      }
    }
  }
  return best;
}

// With which two runs can be merged; read blocks are multiples of it. No more than the type holds, whatever the memory.
std::uint32_t largest_stride(RecordPlan plan, std::uint64_t memory) {
  std::uint32_t stride = 1;
  while (stride < std::uint32_t{1} << 31U) {
    plan.forecast_stride = 2 * stride;
    if (largest_fan_in(plan, memory) < 2) break;
    stride = plan.forecast_stride;
  }
  return stride;
}

std::optional<RecordPlan> plan_stream(RecordPlan plan) {
  if (!choose_forecast(plan, 16)) return std::nullopt;
  plan.formation = formation_frame(plan, 4);
  plan.formation.hold_runs_until_full = true;
  plan.shape = Shape::unknown;
  if (besides(plan) >= plan.wanted.memory_bytes) return std::nullopt;
  const std::uint64_t memory = plan.wanted.memory_bytes - besides(plan);
  if (!fit_run_size(plan.formation, plan, memory) || largest_fan_in(plan, memory) < 2) return std::nullopt;
  plan.most_forecast_stride = largest_stride(plan, memory);
  plan.peak_memory_bytes = plan.formation.memory_bytes() + besides(plan);
  return plan;
}

// Run blocks for packing are larger, because each takes whole pages and a coder likes to see much at a time. False: there is no
// memory for it.
bool plan_compression(RecordPlan& plan, BlockUse use) {
  const Wanted& wanted = plan.wanted;
  if (wanted.compression.is_none()) return true;
  const RunBlock run_block = choose_run_block(wanted.format.record_size, wanted.memory_bytes, use);
  // All runs may end within a block, and so may what they are merged into.
  const std::uint64_t blocks = wanted.size_unknown ? 0 : 2 * (run_blocks_of(run_block, wanted.input_records) + most_counted_runs);
  auto packing = plan_packing({.memory_bytes = wanted.memory_bytes,
                               .threads = std::max(wanted.threads, wanted.threads_of_merge()),
                               .block_bytes = run_block.bytes,
                               .of_records = true,
                               .blocks = blocks},
                              wanted.compression);
  if (!packing) return false;
  if (packing->coders == 0) return true;
  packing->assumed_ratio = wanted.assumed_ratio;
  packing->power = wanted.power;
  plan.packing = *packing;
  plan.run_block = run_block;
  return true;
}

std::optional<RecordPlan> plan_runs(const RecordPlan& frame) {
  return frame.wanted.size_unknown ? plan_stream(frame) : best_external(frame);
}

std::uint64_t moved_bytes(const RecordPlan& plan) { return plan.bytes_read + plan.bytes_written; }

// Returns whether `auto` loses little with data that cannot be compressed, because coders take memory and run blocks are larger.
bool costs_little(const RecordPlan& packed, const RecordPlan& plain) {
  constexpr std::uint64_t most_percent = 105;
  return moved_bytes(packed) / most_percent <= moved_bytes(plain) / 100;
}

// With coders; `auto` does with smaller run blocks or without where larger ones cost it too much.
std::optional<RecordPlan> plan_packed_runs(const RecordPlan& frame) {
  if (!frame.wanted.compression.is_auto) {
    RecordPlan packed = frame;
    return plan_compression(packed, BlockUse::packed) ? plan_runs(packed) : std::nullopt;
  }
  auto plain = plan_runs(frame);
  for (const BlockUse use : {BlockUse::packed, BlockUse::plain}) {
    RecordPlan packed = frame;
    if (!plan_compression(packed, use) || packed.packing.coders == 0) continue;
    auto found = plan_runs(packed);
    if (found && (!plain || costs_little(*found, *plain))) return found;
  }
  return plain;
}

std::optional<RecordPlan> try_plan(const Wanted& wanted) {
  RecordPlan plan;
  plan.wanted = wanted;
  plan.read_depth = wanted.requests.depth;
  plan.write_depth = wanted.requests.depth;
  plan.run_block = choose_run_block(wanted.format.record_size, wanted.memory_bytes, BlockUse::plain);
  if (wanted.memory_bytes < least_memory_bytes) return std::nullopt;
  if (!wanted.size_unknown && wanted.input_records == 0) return plan;
  if (!wanted.size_unknown)
    if (auto one = try_one_pass(plan)) return one;
  return plan_packed_runs(plan);
}

// Returns how many fit where the size of the input is not known: fewer records are no more runs than there may be.
std::uint64_t most_run_records(Wanted wanted) {
  std::uint64_t works = 0, fails = wanted.run_records;
  while (fails - works > 1) {
    wanted.run_records = works + (fails - works) / 2;
    (try_plan(wanted) ? works : fails) = wanted.run_records;
  }
  return works;
}

// Why the wanted runs cannot be, though others could.
[[noreturn]] void refuse_run_records(const Wanted& wanted, RecordPlan frame) {
  if (wanted.size_unknown)
    throw UsageError(
        fmt::format("runs of {} records do not fit {} of memory, where the size of the input is not known: give at most {}",
                    wanted.run_records, format_bytes(wanted.memory_bytes), most_run_records(wanted)));
  frame.wanted.run_records = 0;
  std::uint64_t most = 0;
  for (const unsigned run_buffers : {2U, 3U, 4U}) {
    Formation formation = formation_frame(frame, run_buffers);
    if (fit_run_size(formation, frame, wanted.memory_bytes - besides(frame))) most = std::max(most, formation.run_records);
  }
  if (wanted.run_records > most)
    throw UsageError(fmt::format("runs of {} records do not fit {} of memory: give at most {}", wanted.run_records,
                                 format_bytes(wanted.memory_bytes), most));
  throw UsageError(fmt::format("runs of {} records are more than {} runs: give at least {}", wanted.run_records, most_runs,
                               div_up(wanted.input_records, most_runs - 2)));
}

}  // namespace

const char* to_string(Shape shape) noexcept {
  static constexpr std::array names{"empty",
                                    "one pass",
                                    "two passes",
                                    "more than two passes",
                                    "unknown until the input ends",
                                    "keys first, then each record once"};
  return names[static_cast<std::size_t>(shape)];
}

void complete_plan(RecordPlan& plan, const std::vector<std::uint64_t>& runs, std::uint32_t runs_in_memory) {
  plan.wanted.input_records = std::accumulate(runs.begin(), runs.end(), std::uint64_t{0});
  plan.shape = Shape::empty;
  if (runs.empty()) return;
  std::optional<RecordPlan> best;
  for (std::uint32_t resident = 0; resident <= runs_in_memory; ++resident) {
    const std::uint64_t resident_bytes = resident * (plan.formation.run_buffer_bytes + plan.formation.index_bytes);
    const auto merge = try_merge(plan, runs, resident, resident_bytes);
    if (!merge) continue;
    RecordPlan candidate = plan;
    candidate.merge = *merge;
    candidate.shape = merge->stored_runs == 0 ? Shape::one_pass : merge->passes > 1 ? Shape::multi_pass : Shape::two_pass;
    account(candidate, runs);
    if (!best || cost(candidate) < cost(*best)) best = std::move(candidate);
  }
  if (!best)
    throw NotEnoughMemory(fmt::format("{} of memory cannot merge {} runs", format_bytes(plan.wanted.memory_bytes), runs.size()),
                          plan.wanted.memory_bytes);
  plan = std::move(*best);
}

std::uint64_t minimum_memory_bytes(Wanted wanted) {
  wanted.run_records = 0;
  std::uint64_t low = 0, high = least_memory_bytes;
  const auto works = [&](std::uint64_t memory) {
    wanted.memory_bytes = memory;
    return try_plan(wanted).has_value();
  };
  while (!works(high)) {
    if (high >= most_memory_bytes)
      throw UsageError(fmt::format("{} records are too many for one sort: the longest runs have {}; sort parts of the input",
                                   wanted.input_records, records::RecordTable::most_records));
    low = high;
    high *= 2;
  }
  return round_up(least_that_works(low, high, 64 * KiB, works), MiB / 4);
}

void check_countable(const Wanted& wanted) {
  if (wanted.input_records <= most_input_bytes / std::max<std::uint32_t>(wanted.format.record_size, 1)) return;
  throw UsageError(fmt::format("{} records of {} bytes are too many: a sort has at most {}; sort parts of the input",
                               wanted.input_records, wanted.format.record_size, format_bytes(most_input_bytes)));
}

RecordPlan make_plan(const Wanted& wanted) {
  check_countable(wanted);
  if (auto plan = try_plan(wanted)) return *plan;
  if (wanted.run_records != 0) {
    Wanted any = wanted;
    any.run_records = 0;
    if (auto plan = try_plan(any)) refuse_run_records(wanted, *std::move(plan));
  }
  const std::uint64_t least = minimum_memory_bytes(wanted);
  throw NotEnoughMemory(fmt::format("{} of memory is too little for this input: at least {} is needed",
                                    format_bytes(wanted.memory_bytes), format_bytes(least)),
                        wanted.memory_bytes, least);
}

}  // namespace ecosort::planner
