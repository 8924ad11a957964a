#include "planner/line_plan.h"

#include <algorithm>
#include <bit>

#include "base/memory.h"
#include "formats/lines/line_run.h"

namespace ecosort::planner {
namespace {

std::size_t buffer_bytes(const LinePlan& plan) {
  const std::uint64_t for_runs = plan.memory_bytes - plan.write_bytes() - plan.seen_bytes;
  return std::min(round_down(for_runs / plan.run_buffers, page_bytes), lines::most_run_bytes);
}

// At the same time.
std::uint64_t most_merges(const LinePlan& plan) noexcept { return std::clamp(plan.threads, 1U, plan.write_blocks / 2); }

// Returns whether so many merges at the same time have two slots for each run.
bool has_room(const LinePlan& plan, std::uint64_t runs, std::uint64_t merges, std::size_t longest_line) noexcept {
  const std::uint64_t slot = plan.block_bytes + round_up(longest_line, page_bytes) + page_bytes;
  return runs * 2 * merges * slot <= plan.merge_bytes();
}

// Blocks of another size: so many times as many of them as before are under way.
LinePlan with_blocks(LinePlan plan, std::size_t block_bytes, unsigned times) {
  plan.block_bytes = block_bytes;
  for (unsigned* const count : {&plan.write_blocks, &plan.read_depth, &plan.write_depth}) *count *= times;
  plan.blocks_at_once = std::min(times * plan.blocks_at_once, most_blocks_at_once);
  plan.run_buffer_bytes = buffer_bytes(plan);
  return plan;
}

}  // namespace

LinePlan plan_lines(std::uint64_t memory_bytes, unsigned threads, std::size_t batch_size, bool unique) {
  constexpr std::uint64_t least_block = std::uint64_t{8} * 1024, largest_block = std::uint64_t{512} * 1024;
  constexpr std::uint64_t most_seen = std::uint64_t{64} << 20U;
  LinePlan plan;
  plan.memory_bytes = memory_bytes;
  plan.threads = threads;
  plan.batch_size = batch_size;
  plan.block_bytes = round_down(std::clamp(memory_bytes / 256, least_block, largest_block), page_bytes);
  plan.write_blocks = 8;
  plan.read_depth = 16;
  plan.write_depth = plan.write_blocks;
  if (unique) plan.seen_bytes = round_down(std::min(memory_bytes / 32, most_seen), page_bytes);
  plan.run_buffer_bytes = buffer_bytes(plan);
  return plan;
}

LinePlan plan_for_stored_runs(LinePlan plan) {
  constexpr std::uint64_t largest_block = std::uint64_t{2} << 20U;
  plan.block_bytes = round_down(std::clamp<std::uint64_t>(plan.memory_bytes / 1024, plan.block_bytes, largest_block), page_bytes);
  plan.run_buffers = 3;
  plan.run_buffer_bytes = buffer_bytes(plan);
  return plan;
}

LinePlan fit_blocks(const LinePlan& plan, std::uint64_t input_bytes, std::uint64_t rows, std::uint64_t most_parts) {
  constexpr std::uint64_t least_block = std::uint64_t{56} * 1024;
  constexpr std::uint64_t spare_share = 16;  // buffers end with blocks, and have room for the rows of the next one
  const std::uint64_t full =
                          div_up(input_bytes + rows * lines::index_bytes_per_line, plan.run_buffer_bytes - 2 * plan.block_bytes),
                      runs = full + full / spare_share;
  if (runs > plan.batch_size || has_room(plan, runs, 1, page_bytes)) return plan;
  for (const std::uint64_t merges : {std::min(most_merges(plan), most_parts), std::uint64_t{1}})
    for (LinePlan smaller = plan; smaller.block_bytes >= 2 * least_block;) {
      smaller = with_blocks(smaller, round_down(smaller.block_bytes / 2, page_bytes), 2);
      if (has_room(smaller, runs, merges, page_bytes)) return smaller;
    }
  return plan;
}

std::optional<LinePlan> plan_for_kept_runs(LinePlan plan, std::size_t block_bytes) {
  constexpr std::uint64_t least_buffer_blocks = 4;
  plan = plan_for_stored_runs(plan);
  if (block_bytes > 0) plan.block_bytes = block_bytes;
  const std::uint64_t least = plan.write_bytes() + plan.seen_bytes + plan.run_buffers * least_buffer_blocks * plan.block_bytes;
  if (least > plan.memory_bytes) return std::nullopt;
  plan.run_buffer_bytes = buffer_bytes(plan);
  return plan;
}

LinePlan with_usual_bytes_under_way(LinePlan plan, std::uint64_t besides_bytes) {
  const LinePlan usual =
      plan_for_stored_runs(plan_lines(plan.memory_bytes + besides_bytes, plan.threads, plan.batch_size, plan.seen_bytes > 0));
  const std::uint64_t times =
      std::min<std::uint64_t>(usual.block_bytes / plan.block_bytes, most_kept_requests / (plan.read_depth + plan.write_depth));
  return times > 1 ? with_blocks(plan, plan.block_bytes, static_cast<unsigned>(times)) : plan;
}

std::uint64_t spread_runs(const LinePlan& plan, std::uint64_t full_runs, std::size_t longest_line) {
  const std::uint64_t runs = std::bit_ceil(full_runs);
  return runs <= plan.batch_size && has_room(plan, runs, most_merges(plan), longest_line) ? runs : full_runs;
}

LinePlan plan_for_small_input(LinePlan plan, std::uint64_t input_bytes) {
  constexpr std::size_t most_seen = std::size_t{256} * 1024, largest_block = std::size_t{64} * 1024;
  plan.threads = 0;
  plan.spread_bytes = 0;
  // Few small blocks are filled, written and filled again in the cache.
  plan.block_bytes = std::min(plan.block_bytes, largest_block);
  plan.write_blocks = 3;
  plan.seen_bytes = std::min(plan.seen_bytes, most_seen);
  plan.read_depth = plan.write_depth = 1;
  plan.pages = Pages::small;
  // A line of n bytes takes n + 32, so at most 33 n; blocks that were requested have room, too.
  const std::uint64_t most = round_up(input_bytes * 33 + 4 * plan.block_bytes, std::uint64_t{64} << 10U);
  if (most < plan.run_buffer_bytes) {
    plan.run_buffer_bytes = most;
    plan.run_buffers = 1;
  }
  return plan;
}

}  // namespace ecosort::planner
