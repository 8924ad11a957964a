#include "planner/partition_rows_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/errors.h"
#include "base/memory.h"
#include "base/size_text.h"
#include "planner/arithmetic.h"
#include "planner/partition_plan.h"

namespace ecosort::planner {
namespace {

constexpr unsigned rotating_row_buffers = 2;
constexpr std::uint64_t least_row_run_bytes = MiB, usual_run_bytes = 16 * MiB;
constexpr std::uint64_t bytes_per_row = 33;  // of a run: a row of nothing but its end, and its places in the index
constexpr std::uint64_t row_part_facts_bytes = 512;
constexpr std::uint64_t read_block_bytes = 512 * KiB;
constexpr std::uint64_t table_share = 16;

std::uint64_t least_block(const PartitionRowsWanted& wanted) {
  return std::max(least_slice_block_bytes, round_up(wanted.top_bytes + page_bytes, page_bytes));
}

// Besides runs and what belongs to them.
std::uint64_t bytes_for_parts(const PartitionRowsWanted& wanted, std::uint64_t block) {
  const std::uint64_t pieces = wanted.threads <= 1 ? 1 : wanted.threads * pieces_per_thread;
  return (wanted.parts + blocks_in_flight) * block + round_up(wanted.parts * pieces * part_count_bytes, page_bytes) +
         wanted.parts * row_part_facts_bytes;
}

// With its numbers of parts.
std::uint64_t bytes_of_run(std::uint64_t run, unsigned buffers) {
  return buffers * run + round_up((run / bytes_per_row + 1) * part_number_bytes, page_bytes);
}

}  // namespace

PartitionRowsPlan plan_partition_rows(const PartitionRowsWanted& wanted) {
  const std::uint64_t least = least_block(wanted);
  const std::uint64_t tables = wanted.memory_bytes / table_share;
  const auto left_with = [&](std::uint64_t block) {
    const std::uint64_t taken = bytes_for_parts(wanted, block) + tables;
    return wanted.memory_bytes - std::min(wanted.memory_bytes, taken);
  };
  // A range that surely fits is sorted at once.
  const bool is_one_run = wanted.is_sorted && left_with(least) >= 2 * wanted.range_bytes;
  const unsigned buffers = is_one_run ? 1 : rotating_row_buffers;
  std::uint64_t block = slice_block_for(wanted.parts, wanted.range_bytes, least);
  const std::uint64_t for_sorted = is_one_run ? 2 * wanted.range_bytes : wanted.memory_bytes / 4 * 3;
  const std::uint64_t wanted_left = wanted.is_sorted ? for_sorted : bytes_of_run(usual_run_bytes / 4, buffers);
  while (block > least && left_with(block) < wanted_left) block = std::max(least, round_down(block / 2, page_bytes));
  const std::uint64_t left = left_with(block);
  if (const std::uint64_t need = bytes_of_run(least_row_run_bytes, buffers); left < need) {
    const std::uint64_t all = (bytes_for_parts(wanted, least) + need) * table_share / (table_share - 1) + page_bytes;
    throw NotEnoughMemory(fmt::format("{} part{} with a write block of {} each, and what is read ahead, take {} of memory, there "
                                      "are {}",
                                      wanted.parts, wanted.parts == 1 ? "" : "s", format_bytes(least), format_bytes(all),
                                      format_bytes(wanted.memory_bytes)),
                          wanted.memory_bytes, all);
  }
  PartitionRowsPlan plan;
  std::uint64_t run = left * bytes_per_row / (buffers * bytes_per_row + part_number_bytes) - page_bytes;
  if (!wanted.is_sorted) run = std::min(run, std::max(usual_run_bytes, left / 8));
  LinePlan& lines = plan.lines;
  lines.memory_bytes = wanted.memory_bytes;
  lines.threads = wanted.threads;
  lines.block_bytes = std::min<std::uint64_t>(read_block_bytes, round_down(run / 8, page_bytes));
  lines.write_blocks = static_cast<unsigned>(wanted.parts + blocks_in_flight);
  lines.run_buffers = buffers;
  lines.run_buffer_bytes = std::min<std::uint64_t>(round_down(run, page_bytes), std::uint64_t{1} << 32U);
  lines.read_depth = 16;
  lines.write_depth = blocks_in_flight;
  plan.slice_block_bytes = block;
  plan.most_rows = lines.run_buffer_bytes / bytes_per_row + 1;
  plan.table_bytes = tables;
  return plan;
}

}  // namespace ecosort::planner
