#include "plan/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>

#include "base/errors.h"
#include "base/memory.h"
#include "base/size_text.h"
#include "records/record_table.h"

namespace ecosort::plan {

namespace {

constexpr std::uint64_t KiB = 1024, MiB = 1024 * KiB;

// Read and write units. Virtual NVMe drive, 3 GB per point: 1 MiB x 16 in flight moved 2.84 GB/s mixed, 4 MiB x 16 1.85, 1 MiB x
// 4 1.77.
constexpr std::uint64_t largest_read_block = 1 * MiB, largest_write_block = 1 * MiB, largest_output_block = 8 * MiB;
constexpr std::uint64_t largest_merge_block = 1 * MiB;
constexpr unsigned depth = 16;
constexpr unsigned one_pass_chunks = records::RecordTable::most_arrays;
constexpr std::uint64_t largest_resident_block = 1 * MiB, least_resident_block = 64 * KiB;

// The granule wastes at most 1/256 of its bytes where one of up to 16 units does; otherwise the least wasteful. Every run wastes
// half of one at its end, so that the short runs of tiny records (the index takes the memory) want a small one.
Granule choose_granule(std::uint32_t record_size, std::uint64_t memory) {
  const std::uint64_t run_bytes =
      memory / (std::uint64_t{3} * record_size + 4 * entry_bytes) * record_size;  // about, with three run buffers
  const std::uint64_t unit = memory >= 64 * MiB && run_bytes >= 8 * MiB ? 64 * KiB : 16 * KiB;
  const std::uint64_t least = round_up(record_size + 8ULL, page_bytes);
  Granule best;
  std::uint64_t best_waste = std::numeric_limits<std::uint64_t>::max();
  for (std::uint64_t bytes = std::max(unit, least), end = bytes + 16 * unit; bytes < end; bytes += page_bytes) {
    const std::uint64_t records = (bytes - 8) / record_size;
    const std::uint64_t waste = (bytes - records * record_size) * 65536 / bytes;
    if (waste >= best_waste) continue;
    best_waste = waste;
    best = {static_cast<std::uint32_t>(bytes), static_cast<std::uint32_t>(records)};
    if (waste <= 256) break;
  }
  return best;
}

std::uint64_t clip(std::uint64_t value, std::uint64_t low, std::uint64_t high) { return std::max(low, std::min(value, high)); }

std::uint64_t granules_of(const Granule& granule, std::uint64_t records) { return div_up(records, granule.records); }

// Formation buffers that do not depend on the run's size.
Formation formation_frame(const Plan& plan, unsigned run_buffers) {
  const std::uint64_t memory = plan.wanted.memory_bytes;
  Formation f;
  f.run_buffers = run_buffers;
  f.read_block_bytes = round_down(clip(memory / 128, 4 * page_bytes, largest_read_block), page_bytes);
  f.read_block_bytes = round_up(f.read_block_bytes, plan.wanted.input_alignment);
  f.write_block_bytes =
      round_up(clip(round_down(memory / 128, plan.granule.bytes), plan.granule.bytes, largest_write_block), plan.granule.bytes);
  f.write_blocks = static_cast<unsigned>(clip(memory / 24 / f.write_block_bytes, 3, depth + plan.wanted.threads));
  f.bounce_blocks = plan.wanted.several_inputs ? 2 : 0;
  return f;
}

void set_run_size(Formation& f, const Plan& plan, std::uint64_t run_records) {
  const std::uint64_t unit = std::max<std::uint64_t>(plan.wanted.input_alignment, page_bytes);
  f.run_records = run_records;
  f.run_buffer_bytes = round_up(run_records * plan.wanted.format.record_size, unit) + 2 * unit;
  f.index_bytes = round_up(run_records * entry_bytes, page_bytes);
  f.scratch_bytes = f.index_bytes;
}

// The largest run with which the formation fits `memory`, 0 if none does.
bool fit_run_size(Formation& f, const Plan& plan, std::uint64_t memory) {
  set_run_size(f, plan, 0);
  const std::uint64_t fixed = f.memory_bytes() + (2ULL * f.run_buffers + 2) * page_bytes;
  if (fixed >= memory) return false;
  const std::uint64_t each = f.run_buffers * (plan.wanted.format.record_size + entry_bytes) + entry_bytes;
  const std::uint64_t run_records = std::min<std::uint64_t>((memory - fixed) / each, records::RecordTable::most_records);
  if (run_records < 3) return false;
  // Whole alignment units per run where that costs little: then no byte at a run's edge is read twice.
  const std::uint64_t unit =
      3 * plan.wanted.input_alignment / std::gcd(plan.wanted.input_alignment, plan.wanted.format.record_size);
  set_run_size(f, plan, run_records / unit >= 16 ? round_down(run_records, unit) : run_records);
  return true;
}

bool makes_too_many_runs(const Formation& f, std::uint64_t records) {
  return records / f.run_records >= most_runs - 1;  // two of them are shorter, which makes one more
}

std::vector<std::uint64_t> foresee_runs(const Formation& f, std::uint64_t records) {
  std::vector<std::uint64_t> runs;
  for (std::uint64_t left = records; left > 0; left -= runs.back()) runs.push_back(f.records_of_run(runs.size(), left));
  return runs;
}

// Output blocks take an eighth; the rest are read blocks, at least two for each of `fan_in` runs. Empty if it cannot be.
std::optional<MergeBuffers> fit_merge_buffers(const Plan& plan, std::uint64_t memory, std::uint64_t fan_in) {
  const std::uint64_t stride_bytes = std::uint64_t{plan.forecast_stride} * plan.granule.bytes;
  const std::uint64_t output_unit = plan.granule.bytes;
  const std::uint64_t unit = std::max<std::uint64_t>(plan.wanted.input_alignment, page_bytes);
  MergeBuffers b;
  b.output_blocks = 4;
  const std::uint64_t payload = round_up(clip(memory / 32, output_unit, largest_output_block), output_unit);
  b.output_block_bytes = payload + unit;  // one alignment unit carries the remainder of the block before
  const std::uint64_t output_bytes = b.output_block_bytes * b.output_blocks;
  if (output_bytes >= memory) return std::nullopt;
  const std::uint64_t for_reading = memory - output_bytes;
  const std::uint64_t per_block = for_reading / (2 * fan_in);
  b.block_bytes = clip(round_down(per_block, stride_bytes), stride_bytes, round_up(largest_merge_block, stride_bytes));
  b.blocks = static_cast<unsigned>(std::min<std::uint64_t>(for_reading / b.block_bytes, 1U << 20U));
  if (b.blocks < 2 * fan_in) return std::nullopt;
  return b;
}

// Where all runs are resident: output blocks, each with the index of its records and as much again to sort it. As many as keep
// all threads and the drive busy; they are ready in order only, though they are made in any.
std::optional<MergeBuffers> fit_resident_buffers(const Plan& plan, std::uint64_t memory, std::uint64_t records) {
  const std::uint64_t size = plan.wanted.format.record_size;
  const std::uint64_t unit = std::max<std::uint64_t>(plan.wanted.input_alignment, page_bytes);
  const std::uint64_t fixed = unit + 2 * page_bytes;
  MergeBuffers b;
  b.output_blocks = static_cast<unsigned>(clip(memory / (fixed + least_resident_block), 2, 2 * plan.wanted.threads + 4));
  const std::uint64_t each = memory / b.output_blocks;
  if (each < fixed + size + 2 * entry_bytes) return std::nullopt;
  const auto records_of = [&](std::uint64_t bytes) { return std::max<std::uint64_t>(bytes / (size + 2 * entry_bytes), 1); };
  const std::uint64_t block_records = std::min({records_of(each - fixed), records_of(largest_resident_block), records});
  if (block_records < std::min(records_of(least_resident_block), records)) return std::nullopt;
  b.output_block_bytes = round_up(block_records * size, page_bytes) + unit;
  b.index_bytes = round_up(2 * block_records * entry_bytes, page_bytes);
  return b;
}

std::uint64_t largest_fan_in(const Plan& plan, std::uint64_t memory) {
  std::uint64_t low = 0, high = memory / plan.granule.bytes + 1;
  while (low + 1 < high) {
    const std::uint64_t middle = (low + high) / 2;
    (fit_merge_buffers(plan, memory, middle) ? low : high) = middle;
  }
  return low;
}

// Which adjacent runs to merge first so that at most `fan_in` remain for the last step, reading as few records twice as can be:
// each pass merges only as many groups as it must (Knuth, The Art of Computer Programming 3, 5.4.9, for equal lengths).
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

std::uint64_t reserve_step(std::uint64_t output_bytes) { return round_up(clip(output_bytes / 128, MiB, 256 * MiB), MiB); }

std::optional<Merge> try_merge(const Plan& plan, const std::vector<std::uint64_t>& runs, std::uint32_t resident_runs,
                               std::uint64_t resident_bytes) {
  const std::uint64_t taken = resident_bytes + plan.forecast_bytes;
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
    merge.reserve_bytes = reserve_step(records * plan.wanted.format.record_size);
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
  merge.release_bytes =
      round_up(clip(bytes / 256 / std::max<std::uint64_t>(merge.steps.back().fan_in, 1), page_bytes, 16 * MiB), page_bytes);
  merge.reserve_bytes = reserve_step(bytes);
  return merge;
}

// What the merge does to the run files, in granules.
struct Stored {
  std::uint64_t at_first = 0;  // after run formation
  std::uint64_t remerged = 0;  // written, and read, once more by intermediate steps
  std::uint64_t at_most = 0;   // at the same time: an intermediate step still holds its runs while it writes
};

Stored stored_granules(const Plan& plan, std::vector<std::uint64_t> runs) {
  const auto granules = [&](std::uint64_t records) { return granules_of(plan.granule, records); };
  Stored stored;
  for (std::size_t i = 0; i < plan.merge.stored_runs; ++i) stored.at_first += granules(runs[i]);
  std::uint64_t now = stored.at_most = stored.at_first;
  for (std::size_t i = 0; i + 1 < plan.merge.steps.size(); ++i) {
    const auto first = runs.begin() + plan.merge.steps[i].first_run, last = first + plan.merge.steps[i].fan_in;
    std::uint64_t records = 0, before = 0;
    for (auto run = first; run != last; ++run) {
      records += *run;
      before += granules(*run);
    }
    const std::uint64_t merged = granules(records);
    stored.remerged += merged;
    stored.at_most = std::max(stored.at_most, now + merged);
    now += merged - before;
    *first = records;
    runs.erase(first + 1, last);
  }
  return stored;
}

void account(Plan& plan, const std::vector<std::uint64_t>& runs) {
  const std::uint64_t input = plan.wanted.input_records * plan.wanted.format.record_size;
  const Stored stored = stored_granules(plan, runs);
  plan.stored_records = std::accumulate(runs.begin(), runs.begin() + plan.merge.stored_runs, std::uint64_t{0});
  plan.run_bytes = stored.at_first * plan.granule.bytes;
  plan.temp_bytes = stored.at_most * plan.granule.bytes;
  plan.bytes_read = plan.bytes_written = input + (stored.at_first + stored.remerged) * plan.granule.bytes;
  const std::uint64_t resident =
      plan.merge.resident_runs * (plan.formation.run_buffer_bytes + plan.formation.index_bytes) + plan.forecast_bytes;
  plan.peak_memory_bytes =
      std::max({plan.formation.memory_bytes() + plan.forecast_bytes, resident + plan.merge.final.memory_bytes(),
                plan.forecast_bytes + plan.merge.intermediate.memory_bytes()});
}

// One entry per `forecast_stride` granules, twice over, because an intermediate step holds the tables of its inputs and its
// output.
void choose_forecast(Plan& plan, unsigned memory_share) {
  const std::uint64_t budget = plan.wanted.memory_bytes / memory_share / 2;
  const std::uint64_t granules = granules_of(plan.granule, plan.wanted.input_records);
  plan.forecast_stride = 1;
  if (plan.wanted.size_unknown) {
    plan.forecast_bytes = round_down(2 * budget, page_bytes);
    return;
  }
  while (div_up(granules, plan.forecast_stride) * forecast_entry_bytes > budget) plan.forecast_stride *= 2;
  // Each of the runs rounds up to a whole entry; 4096 runs are more than any two-pass plan has.
  plan.forecast_bytes = round_up(2 * div_up(granules, plan.forecast_stride) * forecast_entry_bytes +
                                     std::min<std::uint64_t>(4096, granules) * forecast_entry_bytes,
                                 page_bytes);
}

// Runs of equal size; of whole alignment units where that costs little, so that no byte at a run's edge is read twice.
std::uint64_t one_pass_run(const Wanted& wanted, unsigned chunks) {
  const std::uint64_t records = div_up(wanted.input_records, chunks);
  const std::uint64_t unit = wanted.input_alignment / std::gcd(wanted.input_alignment, std::uint64_t{wanted.format.record_size});
  return records / unit >= 16 ? round_up(records, unit) : records;
}

std::optional<Plan> try_one_pass(Plan plan) {
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
  account(plan, runs);
  return plan;
}

std::optional<Plan> try_external(Plan plan, unsigned run_buffers, std::uint32_t resident_runs, unsigned forecast_share) {
  choose_forecast(plan, forecast_share);
  plan.formation = formation_frame(plan, run_buffers);
  if (plan.forecast_bytes >= plan.wanted.memory_bytes) return std::nullopt;
  if (!fit_run_size(plan.formation, plan, plan.wanted.memory_bytes - plan.forecast_bytes)) return std::nullopt;
  if (makes_too_many_runs(plan.formation, plan.wanted.input_records)) return std::nullopt;
  const std::vector<std::uint64_t> runs = foresee_runs(plan.formation, plan.wanted.input_records);
  if (resident_runs >= runs.size()) return std::nullopt;
  const std::uint64_t resident = resident_runs * (plan.formation.run_buffer_bytes + plan.formation.index_bytes);
  const auto merge = try_merge(plan, runs, resident_runs, resident);
  if (!merge) return std::nullopt;
  plan.merge = *merge;
  plan.shape = merge->passes > 1 ? Shape::multi_pass : Shape::two_pass;
  account(plan, runs);
  return plan;
}

// Fewest bytes moved; of equals the one with the largest merge blocks. Below 256 KiB a block costs more in requests than a
// resident run saves.
std::pair<std::uint64_t, std::uint64_t> cost(const Plan& plan) {
  const bool small = plan.merge.stored_runs > 0 && plan.merge.final.block_bytes < 256 * KiB;
  return {plan.bytes_read + (small ? plan.bytes_read / 8 : 0), ~plan.merge.final.block_bytes};
}

// Of all ways to divide the memory, the cheapest one.
std::optional<Plan> best_external(const Plan& frame) {
  std::optional<Plan> best;
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

std::optional<Plan> plan_stream(Plan plan) {
  choose_forecast(plan, 16);
  plan.formation = formation_frame(plan, 4);
  plan.formation.hold_runs_until_full = true;
  plan.shape = Shape::unknown;
  const std::uint64_t memory = plan.wanted.memory_bytes - plan.forecast_bytes;
  if (!fit_run_size(plan.formation, plan, memory) || largest_fan_in(plan, memory) < 2) return std::nullopt;
  plan.peak_memory_bytes = plan.formation.memory_bytes() + plan.forecast_bytes;
  return plan;
}

std::optional<Plan> try_plan(const Wanted& wanted) {
  Plan plan;
  plan.wanted = wanted;
  plan.read_depth = depth;
  plan.write_depth = depth;
  plan.granule = choose_granule(wanted.format.record_size, wanted.memory_bytes);
  if (wanted.memory_bytes < least_memory_bytes) return std::nullopt;
  if (wanted.size_unknown) return plan_stream(plan);
  if (wanted.input_records == 0) return plan;
  if (auto one = try_one_pass(plan)) return one;
  return best_external(plan);
}

// Run buffers and merge buffers for equal runs when the forecast tables may have a share of the memory.
std::optional<Plan> try_equal_runs(Plan plan, std::uint64_t run_records, std::uint64_t most_batch_bytes, unsigned run_buffers,
                                   unsigned forecast_share) {
  const std::uint64_t memory = plan.wanted.memory_bytes;
  const std::uint64_t runs = div_up(plan.wanted.input_records, run_records);
  const std::uint64_t for_forecast = memory / forecast_share;
  const auto buffers = fit_merge_buffers(plan, memory - for_forecast, runs);
  if (!buffers) return std::nullopt;
  plan.merge.final = *buffers;
  plan.forecast_stride = static_cast<std::uint32_t>(buffers->block_bytes / plan.granule.bytes);
  plan.forecast_bytes = round_up(
      2 * forecast_entry_bytes * runs * div_up(granules_of(plan.granule, run_records), plan.forecast_stride), page_bytes);
  if (plan.forecast_bytes > for_forecast) return std::nullopt;
  const std::uint64_t unit = std::max<std::uint64_t>(plan.wanted.input_alignment, page_bytes);
  plan.merge.final.output_block_bytes =
      std::min(buffers->output_block_bytes,
               round_up(std::max<std::uint64_t>(most_batch_bytes, plan.wanted.format.record_size), page_bytes) + unit);
  plan.formation = formation_frame(plan, run_buffers);
  set_run_size(plan.formation, plan, run_records);
  const std::uint64_t slack = (2ULL * run_buffers + 2) * page_bytes;
  if (plan.formation.memory_bytes() + slack + plan.forecast_bytes > memory) return std::nullopt;
  return plan;
}

}  // namespace

std::optional<Plan> plan_equal_runs(const Wanted& wanted, const Granule& granule, std::uint64_t run_records,
                                    std::uint64_t most_batch_bytes) {
  Plan frame;
  frame.wanted = wanted;
  frame.read_depth = frame.write_depth = depth;
  frame.granule = granule;
  frame.shape = Shape::two_pass;
  if (run_records > records::RecordTable::most_records || div_up(wanted.input_records, run_records) > most_runs)
    return std::nullopt;
  for (const unsigned run_buffers : {3U, 2U, 1U}) {
    for (const unsigned forecast_share : {16U, 4U}) {
      auto plan = try_equal_runs(frame, run_records, most_batch_bytes, run_buffers, forecast_share);
      if (!plan) continue;
      std::vector<std::uint64_t> runs(div_up(wanted.input_records, run_records), run_records);
      runs.back() = wanted.input_records - (runs.size() - 1) * run_records;
      plan->merge.stored_runs = static_cast<std::uint32_t>(runs.size());
      plan->merge.steps = {{0, plan->merge.stored_runs}};
      plan->merge.passes = 1;
      account(*plan, runs);
      return plan;
    }
  }
  return std::nullopt;
}

const char* to_string(Shape shape) noexcept {
  static constexpr std::array names{"empty", "one pass", "two passes", "more than two passes", "unknown until the input ends"};
  return names[static_cast<std::size_t>(shape)];
}

std::uint64_t Formation::records_of_run(std::uint64_t run, std::uint64_t records_left) const noexcept {
  // Section 4.1: the first two runs have 1/3 and 2/3 of the regular size, so that the processor has work early.
  std::uint64_t records = run_records;
  if (write_blocks > 0 && !hold_runs_until_full && run < 2) records = std::max<std::uint64_t>(run_records * (run + 1) / 3, 1);
  return std::min(records, records_left);
}

std::uint64_t Formation::memory_bytes() const noexcept {
  return run_buffers * (run_buffer_bytes + index_bytes) + scratch_bytes + write_block_bytes * write_blocks +
         read_block_bytes * bounce_blocks;
}

Plan::Ledger Plan::formation_ledger() const {
  return {{fmt::format("{} run buffers", formation.run_buffers), formation.run_buffers * formation.run_buffer_bytes},
          {"index (16 bytes per record)", formation.run_buffers * formation.index_bytes},
          {"index sort scratch", formation.scratch_bytes},
          {fmt::format("{} write blocks", formation.write_blocks), formation.write_blocks * formation.write_block_bytes},
          {"bounce blocks", formation.bounce_blocks * formation.read_block_bytes},
          {"forecast table", forecast_bytes}};
}

Plan::Ledger Plan::merge_ledger() const {
  const MergeBuffers& b = merge.final;
  return {{fmt::format("{} resident runs with index", merge.resident_runs),
           merge.resident_runs * (formation.run_buffer_bytes + formation.index_bytes)},
          {fmt::format("{} read blocks", b.blocks), b.blocks * b.block_bytes},
          {fmt::format("{} output blocks", b.output_blocks), b.output_blocks * b.output_block_bytes},
          {"index of the output blocks", b.output_blocks * b.index_bytes},
          {"forecast table", forecast_bytes}};
}

void complete_plan(Plan& plan, const std::vector<std::uint64_t>& runs, std::uint32_t runs_in_memory) {
  plan.wanted.input_records = std::accumulate(runs.begin(), runs.end(), std::uint64_t{0});
  plan.shape = Shape::empty;
  if (runs.empty()) return;
  std::optional<Plan> best;
  for (std::uint32_t resident = 0; resident <= runs_in_memory; ++resident) {
    const std::uint64_t resident_bytes = resident * (plan.formation.run_buffer_bytes + plan.formation.index_bytes);
    const auto merge = try_merge(plan, runs, resident, resident_bytes);
    if (!merge) continue;
    Plan candidate = plan;
    candidate.merge = *merge;
    candidate.shape = merge->stored_runs == 0 ? Shape::one_pass : merge->passes > 1 ? Shape::multi_pass : Shape::two_pass;
    account(candidate, runs);
    if (!best || cost(candidate) < cost(*best)) best = std::move(candidate);
  }
  if (!best)
    throw UsageError(fmt::format("{} of memory cannot merge {} runs; give more with --memory",
                                 format_bytes(plan.wanted.memory_bytes), runs.size()));
  plan = std::move(*best);
}

std::uint64_t minimum_memory_bytes(Wanted wanted) {
  std::uint64_t low = 0, high = least_memory_bytes;
  const auto works = [&](std::uint64_t memory) {
    wanted.memory_bytes = memory;
    return try_plan(wanted).has_value();
  };
  while (!works(high)) {
    if (high >> 62U != 0)
      throw UsageError(fmt::format("{} records are too many for one sort: the longest runs have {}; sort parts of the input",
                                   wanted.input_records, records::RecordTable::most_records));
    low = high;
    high *= 2;
  }
  while (high - low > 64 * KiB) {
    const std::uint64_t middle = low + (high - low) / 2;
    (works(middle) ? high : low) = middle;
  }
  return round_up(high, MiB / 4);
}

Plan make_plan(const Wanted& wanted) {
  if (auto plan = try_plan(wanted)) return *plan;
  const std::uint64_t least = minimum_memory_bytes(wanted);
  throw UsageError(fmt::format("--memory {} is too little for this input: at least {} is needed; try --memory {}KiB",
                               format_bytes(wanted.memory_bytes), format_bytes(least), least / KiB));
}

}  // namespace ecosort::plan
