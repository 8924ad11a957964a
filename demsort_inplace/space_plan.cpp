#include "demsort_inplace/space_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "base/errors.h"
#include "demsort_inplace/describe_run.h"
#include "demsort_inplace/journal.h"
#include "demsort_inplace/kept_keys.h"
#include "formats/records/record_table.h"
#include "planner/arithmetic.h"
#include "planner/fit_formation.h"

namespace ecosort::demsort_inplace {

namespace {

// The file system's own blocks. Inodes and names of our files; an extent takes 12 (ext4) or 16 (XFS) bytes in tree blocks that
// may be half empty, and its neighbourhood in the free space trees as much again. The base covers what a nearly full file system
// refuses to give out: a round number, which tests/inplace/test_space.py finds to be enough.
constexpr std::uint64_t metadata_base = 256 * KiB, file_bytes = 1024, bytes_per_extent = 64;

// Microseconds, for comparing layouts only: a sync with its journal record and cut; cutting one run; one read request.
constexpr std::uint64_t sync_us = 20'000, cut_us = 100, request_us = 100, batch_us = 300;

// More than this between checkpoints gains nothing, and is more to do again after a crash.
std::uint64_t most_interval(const Layout& layout) {
  return round_up(std::max<std::uint64_t>(layout.bytes() / 64, 64 * MiB), layout.unit);
}

std::uint64_t checkpoint_count(const Layout& layout) {
  // A checkpoint may lag behind by two batches: a bit less than half of the interval.
  return layout.bytes() / (layout.interval_bytes / 2 + 1) + 1;
}

// The output is written into the gaps that the runs leave: one for each run and checkpoint, or one run block each.
std::uint64_t extent_count(const Layout& layout) {
  return std::min(layout.bytes() / layout.run_block.bytes + 1, checkpoint_count(layout) * (layout.runs() + 2)) + layout.runs();
}

std::uint64_t metadata_of(const Layout& layout) {
  return metadata_allowance(layout.runs() + 8, extent_count(layout), layout.unit);
}

std::uint64_t cost_us(const SpacePlan& plan) {
  const Layout& layout = plan.layout;
  const std::uint64_t batch = plan.engine.merge.final.output_block_bytes - layout.unit;
  return layout.runs() * sync_us + plan.checkpoints * (sync_us + layout.runs() * cut_us) +
         layout.bytes() / plan.engine.merge.final.block_bytes * request_us +
         layout.bytes() / std::max<std::uint64_t>(batch, 1) * (batch_us + layout.runs());
}

// Runs that say what they hold keep the keys of the blocks that the merge reads, unless these would be too many.
void keep_keys(SpacePlan& plan, const records::RecordFormat& format) {
  Layout& layout = plan.layout;
  layout.key_stride = plan.engine.forecast_stride;
  if (div_up(layout.run_run_blocks(0), layout.key_stride) > most_kept_keys) layout.key_stride = 0;
  layout.head_bytes = head_bytes(format, layout);
}

// Fills in what follows from layout and memory. False: the memory is too little.
bool complete(SpacePlan& plan, const planner::Wanted& wanted) {
  plan.layout.interval_bytes = round_down(plan.layout.interval_bytes, plan.layout.unit);
  auto engine = planner::plan_equal_runs(wanted, equal_runs(plan.layout, plan.layout.head_bytes > 0));
  if (!engine) return false;
  if (plan.layout.packs && engine->packing.coders == 0) return false;
  plan.engine = std::move(*engine);
  if (plan.layout.head_bytes > 0) keep_keys(plan, wanted.format);
  plan.engine.packing.assumed_ratio = plan.layout.assumed_ratio;
  plan.journal_bytes = round_up(Journal::size_bytes({.format = wanted.format, .layout = plan.layout}), plan.layout.unit);
  plan.metadata_bytes = metadata_of(plan.layout);
  plan.checkpoints = checkpoint_count(plan.layout);
  return true;
}

std::vector<planner::RunBlock> run_blocks_for(const planner::Wanted& wanted) {
  const std::uint32_t record_size = wanted.format.record_size;
  const std::uint64_t unit = wanted.input_alignment;
  if (!wanted.compression.is_none())
    return {planner::RunBlock::of(
        round_up(planner::choose_run_block(record_size, wanted.memory_bytes, planner::BlockUse::packed).bytes, unit),
        record_size)};
  std::vector<planner::RunBlock> run_blocks;
  const std::uint64_t least = planner::RunBlock::least_bytes(record_size, unit);
  for (std::uint64_t i = 0; i < 16; ++i) {
    const std::uint64_t bytes = least + i * unit;
    if (bytes > std::numeric_limits<std::uint32_t>::max()) break;
    run_blocks.push_back(planner::RunBlock::of(bytes, record_size));
  }
  return run_blocks;
}

// 1, 2, 3, ... and then in steps of 1/32.
std::vector<std::uint64_t> run_counts(std::uint64_t records) {
  std::vector<std::uint64_t> counts;
  for (std::uint64_t runs = 1; runs <= std::min(planner::most_runs, records); runs += std::max<std::uint64_t>(runs / 32, 1))
    counts.push_back(runs);
  return counts;
}

// The longest checkpoint interval with which the need is at most `free`; what the pieces need anyway is the intervals' for
// nothing.
std::uint64_t interval_within(const SpacePlan& plan, std::uint64_t free_bytes) {
  const Layout& layout = plan.layout;
  const std::uint64_t room = plan.need_bytes() >= free_bytes ? 0 : free_bytes - plan.need_bytes();
  const std::uint64_t piece = layout.run_file_bytes(0, 0), slack = layout.slack_bytes();
  const std::uint64_t unused = piece > slack ? piece - slack : 0;
  return std::min(layout.interval_bytes + unused + room, std::max(layout.interval_bytes, most_interval(layout)));
}

// With the shortest interval there may be.
SpacePlan tightest(const planner::Wanted& wanted, const Ground& ground, const planner::RunBlock& run_block, std::uint64_t runs) {
  SpacePlan plan;
  plan.layout = {.records = wanted.input_records,
                 .record_size = wanted.format.record_size,
                 .run_block = run_block,
                 .piece_records = div_up(wanted.input_records, runs),
                 .unit = wanted.input_alignment,
                 .keeps_runs = ground.mode == Mode::keeping_runs,
                 .packs = !wanted.compression.is_none(),
                 .assumed_ratio = ground.mode == Mode::keeping_runs ? wanted.assumed_ratio : 0};
  if (ground.describes_runs) plan.layout.head_bytes = head_bytes(wanted.format, plan.layout);
  plan.held_bytes = ground.held_bytes;
  plan.layout.interval_bytes = least_interval_bytes(plan.layout);
  if (ground.mode != Mode::in_place) plan.output_bytes = plan.layout.input_file_bytes(wanted.input_records);
  return plan;
}

// The same layout with another interval. Nothing: the memory is too little. What the plan says of the engine is long, and
// computed anew.
std::optional<SpacePlan> with_interval(const SpacePlan& plan, std::uint64_t interval_bytes, const planner::Wanted& wanted) {
  SpacePlan other;
  other.layout = plan.layout;
  other.held_bytes = plan.held_bytes;
  other.output_bytes = plan.output_bytes;
  other.layout.interval_bytes = interval_bytes;
  return complete(other, wanted) ? std::optional(std::move(other)) : std::nullopt;
}

// A longer interval may need less: fewer checkpoints make fewer extents, and where runs keep their space nothing more.
void tighten(SpacePlan& plan, const planner::Wanted& wanted) {
  for (;;) {
    const std::uint64_t interval = std::min(2 * plan.layout.interval_bytes, most_interval(plan.layout));
    if (interval <= plan.layout.interval_bytes) return;
    std::optional<SpacePlan> longer = with_interval(plan, interval, wanted);
    if (!longer || longer->need_bytes() >= plan.need_bytes()) return;
    plan = std::move(*longer);
  }
}

// Calls `look` with every layout that may be of use, in its tightest form: more runs of a block each only need more and take
// longer.
template <class Look>
void for_each_layout(const planner::Wanted& wanted, const Ground& ground, const Look& look) {
  for (const planner::RunBlock& run_block : run_blocks_for(wanted)) {
    for (const std::uint64_t runs : run_counts(wanted.input_records)) {
      SpacePlan plan = tightest(wanted, ground, run_block, runs);
      if (!complete(plan, wanted)) continue;
      tighten(plan, wanted);
      look(std::move(plan));
      if (div_up(wanted.input_records, runs) <= run_block.records) break;
    }
  }
}

// Returns whether there is one, whatever space it needs.
bool has_layout(const planner::Wanted& wanted, const Ground& ground) {
  for (const planner::RunBlock& run_block : run_blocks_for(wanted)) {
    for (const std::uint64_t runs : run_counts(wanted.input_records)) {
      SpacePlan plan = tightest(wanted, ground, run_block, runs);
      if (complete(plan, wanted)) return true;
    }
  }
  return false;
}

// Lengthens the interval of a layout until what it costs is at most `limit_us`. False: it is never that cheap, or needs
// `most_bytes` then.
bool lengthen(SpacePlan& plan, const planner::Wanted& wanted, std::uint64_t limit_us, std::uint64_t most_bytes) {
  const std::uint64_t longest = std::max(plan.layout.interval_bytes, most_interval(plan.layout));
  while (plan.need_bytes() < most_bytes) {
    if (cost_us(plan) <= limit_us) return true;
    if (plan.layout.interval_bytes >= longest) return false;
    plan.layout.interval_bytes = std::min(2 * plan.layout.interval_bytes, longest);
    if (!complete(plan, wanted)) return false;
  }
  return false;
}

constexpr std::uint64_t ample_bytes = std::uint64_t{1} << 62U;

}  // namespace

std::uint64_t metadata_allowance(std::uint64_t files, std::uint64_t extents, std::uint64_t unit) noexcept {
  const std::uint64_t base = metadata_base * (unit / page_bytes);  // counted in blocks
  return round_up(base + files * file_bytes + extents * bytes_per_extent, unit);
}

namespace {

SpaceChoice choose_among(const planner::Wanted& wanted, std::uint64_t free_bytes, const Ground& ground) {
  SpaceChoice choice;
  for_each_layout(wanted, ground, [&](SpacePlan plan) {
    if (!choice.least || plan.need_bytes() < choice.least->need_bytes()) choice.least = plan;
    if (plan.need_bytes() > free_bytes) return;
    std::optional<SpacePlan> longer = with_interval(plan, interval_within(plan, free_bytes), wanted);
    if (longer && longer->need_bytes() <= free_bytes) plan = std::move(*longer);
    if (!choice.best || cost_us(plan) < cost_us(*choice.best)) choice.best = std::move(plan);
  });
  return choice;
}

}  // namespace

SpaceChoice choose_space(const planner::Wanted& wanted, std::uint64_t free_bytes, const Ground& ground) {
  planner::check_countable(wanted);
  SpaceChoice choice = choose_among(wanted, free_bytes, ground);
  if (ground.mode != Mode::in_place) return choice;
  Ground bare = ground;
  bare.describes_runs = false;
  SpaceChoice without = choose_among(wanted, free_bytes, bare);
  const auto is_worth_it = [](const SpacePlan& with, const SpacePlan& other) {
    return cost_us(with) <= cost_us(other) / 10 * 11;
  };
  if (!without.least) return choice;  // with so little memory runs must keep the keys of their forecast
  if (!choice.best || (without.best && !is_worth_it(*choice.best, *without.best))) choice.best = std::move(without.best);
  choice.least = std::move(without.least);
  return choice;
}

std::optional<SpacePlan> recommended_space(const planner::Wanted& wanted, const Ground& ground) {
  const SpaceChoice ample = choose_space(wanted, ample_bytes, ground);
  if (!ample.best) return std::nullopt;
  const std::uint64_t moving_us = 4 * ample.best->layout.bytes() / 1000;  // everything read and written twice, at 1 GB/s
  const std::uint64_t limit_us = std::max(cost_us(*ample.best), moving_us / 20);
  std::optional<SpacePlan> thriftiest = ample.best;
  for_each_layout(wanted, ground, [&](SpacePlan plan) {
    if (lengthen(plan, wanted, limit_us, thriftiest->need_bytes())) thriftiest = std::move(plan);
  });
  return thriftiest;
}

std::uint64_t least_memory_bytes(planner::Wanted wanted, const Ground& ground) {
  constexpr std::uint64_t most_records = planner::most_runs * records::RecordTable::most_records;
  const auto works = [&](std::uint64_t memory) {
    wanted.memory_bytes = memory;
    return has_layout(wanted, ground);
  };
  std::uint64_t low = 0, high = planner::least_memory_bytes;
  while (!works(high)) {
    if (wanted.input_records > most_records || high >= planner::most_memory_bytes)
      throw UsageError(fmt::format(
          "{} records are too many for one job: it merges at most {} runs of at most {} records; sort parts of the input",
          wanted.input_records, planner::most_runs, records::RecordTable::most_records));
    low = high;
    high *= 2;
  }
  const std::uint64_t precision = std::max(high / 128, page_bytes);
  return round_up(planner::least_that_works(low, high, precision, works), page_bytes);
}

}  // namespace ecosort::demsort_inplace
