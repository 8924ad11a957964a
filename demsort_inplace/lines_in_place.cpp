#include "demsort_inplace/lines_in_place.h"

#include <algorithm>

#include "demsort_inplace/journal.h"
#include "demsort_inplace/row_files.h"
#include "demsort_inplace/space_plan.h"
#include "formats/lines/line_run.h"
#include "run/run_block.h"

namespace ecosort::demsort_inplace {

namespace {

constexpr std::uint64_t least_block = 8 * KiB;
constexpr std::uint64_t line_share = 8;  // of a run buffer: what a line may take

// Returns what a run buffer may hold that has no place in its index when that is full: what waits for being indexed, what is in
// flight, and whole pages.
std::uint64_t most_unindexed(const planner::LinePlan& plan) {
  return plan.run_buffer_bytes / 8 + 2 * std::uint64_t{plan.read_depth} * plan.block_bytes + 4 * page_bytes;
}

std::uint64_t payload(const JobHeader& header) { return header.lines->block_bytes - run::trailer_bytes; }

// One merge takes all, if lines are shorter than a page: of each a block, the beginning of a line, and its end.
bool fits_one_merge(const planner::LinePlan& plan, std::uint64_t runs) {
  const std::uint64_t lines_beside = 2 * longest_line_in_place(plan) + 4 * plan.block_bytes;
  return runs <= plan.batch_size && runs * (plan.block_bytes + 2 * page_bytes) + lines_beside <= plan.merge_bytes();
}

std::uint64_t padding(const LinesInPlace& plan) {
  return plan.runs * (plan.header.layout.head_bytes + 2 * plan.plan.block_bytes);
}

// The longest interval that needs no more than a run that is being written.
std::uint64_t interval_for(const LinesInPlace& plan, std::uint64_t bytes) {
  constexpr std::uint64_t most_checkpoints = 4096, least = 64 * KiB;
  const std::uint64_t block = plan.plan.block_bytes;
  const std::uint64_t others = (plan.runs + 4) * block + longest_line_in_place(plan.plan), buffer = plan.plan.run_buffer_bytes;
  const std::uint64_t shortest = std::max({least, bytes / most_checkpoints, buffer / 4}),
                      longest = std::max(bytes / 64, 64 * MiB);
  return std::clamp(buffer - std::min(buffer, others), shortest, std::max(shortest, longest));
}

LinesInPlace lay_out(const JobHeader& job, const planner::LinePlan& plan, std::uint64_t held_bytes) {
  const std::uint64_t bytes = most_output_bytes(job), unit = job.layout.unit;
  LinesInPlace result{.plan = plan, .header = job, .runs = most_runs_in_place(plan, bytes), .held_bytes = held_bytes};
  JobHeader& header = result.header;
  header.memory_bytes = plan.memory_bytes;
  header.layout.keeps_runs = false;
  header.layout.interval_bytes = round_up(interval_for(result, bytes), unit);
  header.lines->block_bytes = plan.block_bytes;
  header.lines->most_merged = header.lines->run_places = result.runs;
  header.lines->total_bytes = lines_total_bytes(header, plan, result.runs);
  result.journal_bytes = round_up(Journal::size_bytes(header), unit);
  result.checkpoints = bytes / header.layout.interval_bytes + 1;
  const std::uint64_t gaps = std::min(bytes / plan.block_bytes + 1, result.checkpoints * (result.runs + 2));
  result.metadata_bytes = metadata_allowance(result.runs + 8, gaps + result.runs, unit);
  return result;
}

// The padding of blocks up to `large_enough` may take four runs where there is space for that, of larger ones no more than one.
bool is_worth_it(const LinesInPlace& plan) {
  constexpr std::uint64_t large_enough = 64 * KiB;
  const std::uint64_t run = std::min<std::uint64_t>(plan.plan.run_buffer_bytes, most_output_bytes(plan.header));
  return padding(plan) <= (plan.plan.block_bytes <= large_enough ? 4 * run : run);
}

// With these blocks; nothing: the memory is too little for them, or for one merge.
std::optional<LinesInPlace> with_blocks(const JobHeader& job, const planner::LinePlan& memory, std::size_t block,
                                        std::uint64_t held_bytes) {
  const std::optional<planner::LinePlan> plan = plan_in_place(memory, block);
  if (!plan) return std::nullopt;
  LinesInPlace laid_out = lay_out(job, *plan, held_bytes);
  if (!fits_one_merge(*plan, laid_out.runs)) return std::nullopt;
  return laid_out;
}

// `best` has the largest blocks that are worth it.
LinesInPlaceChoice with_memory(const JobHeader& job, const planner::LinePlan& memory, std::uint64_t free_bytes,
                               std::uint64_t held_bytes) {
  const std::uint64_t unit = job.layout.unit, least = std::max(least_block, unit);
  LinesInPlaceChoice choice;
  const auto usual = planner::plan_for_kept_runs(memory, 0);
  if (!usual) return choice;
  for (std::uint64_t block = 2 * usual->block_bytes; block > least;) {
    block = std::max(round_down(block / 2, unit), least);
    std::optional<LinesInPlace> plan = with_blocks(job, memory, block, held_bytes);
    if (!plan) continue;
    if (!choice.best && plan->need_bytes() <= free_bytes && is_worth_it(*plan)) choice.best = plan;
    if (!choice.least || plan->need_bytes() < choice.least->need_bytes()) choice.least = std::move(plan);
  }
  return choice;
}

planner::LinePlan with_less(const planner::LinePlan& memory, std::uint64_t bytes) {
  return planner::plan_lines(bytes, memory.threads, memory.batch_size, false);
}

}  // namespace

std::uint64_t LinesInPlace::extra_bytes() const noexcept {
  return header.lines->total_bytes - round_up(header.inputs.front().size_bytes, header.layout.unit);
}

std::optional<planner::LinePlan> plan_in_place(const planner::LinePlan& memory, std::size_t block_bytes) {
  std::optional<planner::LinePlan> plan = planner::plan_for_kept_runs(memory, block_bytes);
  if (!plan) return plan;
  plan->spread_bytes = 0;
  const std::uint64_t depth = plan->run_buffer_bytes / (8 * plan->block_bytes);
  plan->read_depth = static_cast<unsigned>(std::clamp<std::uint64_t>(depth, 1, plan->read_depth));
  if (most_unindexed(*plan) + page_bytes > plan->run_buffer_bytes) plan.reset();
  return plan;
}

std::uint64_t longest_line_in_place(const planner::LinePlan& plan) noexcept { return plan.run_buffer_bytes / line_share; }

std::uint64_t most_runs_in_place(const planner::LinePlan& plan, std::uint64_t bytes) noexcept {
  const std::uint64_t each = lines::index_bytes_per_line + 1;  // a byte takes no more of a run buffer
  const std::uint64_t room = plan.run_buffer_bytes - most_unindexed(plan);
  return std::min(2 * div_up(bytes * each, room) + 2, std::max<std::uint64_t>(bytes, 1));
}

std::uint64_t lines_total_bytes(const JobHeader& job, const planner::LinePlan& plan, std::uint64_t runs) noexcept {
  const std::uint64_t bytes = most_output_bytes(job), block = job.lines->block_bytes, unit = job.layout.unit;
  const std::uint64_t trailers = div_up(bytes, payload(job)) * run::trailer_bytes;
  const std::uint64_t being_written = std::min<std::uint64_t>(plan.run_buffer_bytes, bytes);
  // The output may be so far ahead of what the runs gave back.
  const std::uint64_t ahead = (runs + 4) * block + job.layout.interval_bytes + longest_line_in_place(plan);
  const std::uint64_t slack = std::max(being_written, std::min(ahead, round_up(bytes, unit)));
  return round_up(bytes, unit) + round_up(trailers + runs * (job.layout.head_bytes + block) + slack, unit) + 4 * unit;
}

std::uint64_t consumed_blocks(const JobHeader& header, std::uint64_t bytes, std::uint64_t consumed) noexcept {
  return consumed == bytes ? div_up(bytes, payload(header)) : consumed / payload(header);
}

std::uint64_t run_file_bytes(const JobHeader& header, std::uint64_t bytes, std::uint64_t consumed) noexcept {
  const std::uint64_t blocks = div_up(bytes, payload(header)) - consumed_blocks(header, bytes, consumed);
  return header.layout.head_bytes + blocks * header.lines->block_bytes;
}

LinesInPlaceChoice choose_lines_in_place(const JobHeader& job, const planner::LinePlan& memory, std::uint64_t free_bytes,
                                         std::uint64_t held_bytes) {
  LinesInPlaceChoice choice;
  for (std::uint64_t bytes = memory.memory_bytes; bytes >= planner::least_line_memory_bytes; bytes /= 2) {
    LinesInPlaceChoice with = with_memory(job, with_less(memory, bytes), free_bytes, held_bytes);
    if (!with.least) break;
    if (!choice.best) choice.best = std::move(with.best);
    if (!choice.least || with.least->need_bytes() < choice.least->need_bytes()) choice.least = std::move(with.least);
  }
  if (!choice.best && choice.least && choice.least->need_bytes() <= free_bytes) choice.best = choice.least;
  return choice;
}

std::uint64_t least_lines_memory_bytes(const JobHeader& job, planner::LinePlan memory) {
  std::uint64_t bytes = planner::least_line_memory_bytes;
  while (!with_memory(job, with_less(memory, bytes), 0, 0).least) bytes += bytes / 8;
  return round_up(bytes, MiB);
}

}  // namespace ecosort::demsort_inplace
