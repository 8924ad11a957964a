#include "lines/line_plan.h"

#include <algorithm>

#include "base/memory.h"
#include "lines/line_run.h"

namespace ecosort::lines {
namespace {

std::size_t buffer_bytes(const LinePlan& plan) {
  const std::uint64_t for_runs = plan.memory_bytes - plan.write_bytes() - plan.seen_bytes;
  return std::min(round_down(for_runs / plan.run_buffers, page_bytes), most_run_bytes);
}

// Large requests cost less, but a merge needs two blocks of each run: with as much memory as leaves hundreds of runs to a merge
// they grow further.
std::size_t block_bytes(std::uint64_t memory_bytes) {
  constexpr std::uint64_t least = std::uint64_t{8} * 1024, usual = std::uint64_t{512} * 1024, largest = std::uint64_t{2} << 20U;
  const std::uint64_t block = std::clamp(memory_bytes / 256, least, usual);
  return round_down(std::clamp(memory_bytes / 1024, block, largest), page_bytes);
}

}  // namespace

LinePlan plan_lines(std::uint64_t memory_bytes, unsigned threads, std::size_t batch_size, bool unique) {
  constexpr std::uint64_t most_seen = std::uint64_t{64} << 20U;
  LinePlan plan;
  plan.memory_bytes = memory_bytes;
  plan.threads = threads;
  plan.batch_size = batch_size;
  plan.block_bytes = block_bytes(memory_bytes);
  plan.write_blocks = 8;
  plan.read_depth = 16;
  plan.write_depth = plan.write_blocks;
  if (unique) plan.seen_bytes = round_down(std::min(memory_bytes / 32, most_seen), page_bytes);
  plan.run_buffer_bytes = buffer_bytes(plan);
  return plan;
}

LinePlan plan_for_stored_runs(LinePlan plan) {
  plan.run_buffers = 3;
  plan.run_buffer_bytes = buffer_bytes(plan);
  return plan;
}

LinePlan plan_for_small_input(LinePlan plan) {
  constexpr std::size_t most_seen = std::size_t{256} * 1024, largest_block = std::size_t{64} * 1024;
  plan.threads = 0;
  // Few small blocks are filled, written and filled again in the cache.
  plan.block_bytes = std::min(plan.block_bytes, largest_block);
  plan.write_blocks = 3;
  plan.seen_bytes = std::min(plan.seen_bytes, most_seen);
  plan.read_depth = plan.write_depth = 1;
  plan.pages = Pages::small;
  return plan;
}

}  // namespace ecosort::lines
