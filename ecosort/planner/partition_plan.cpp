#include "planner/partition_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/errors.h"
#include "base/memory.h"
#include "base/size_text.h"
#include "formats/records/record_table.h"
#include "planner/arithmetic.h"

namespace ecosort::planner {
namespace {

constexpr unsigned rotating_buffers = 3, rotating_buffers_of_sorted = 2;
constexpr std::uint64_t least_run_bytes = 256 * KiB, most_run_bytes = 4 * MiB;  // of rows that keep their order
constexpr std::uint64_t blocks_share_of_sorted = 4;                             // 1/4 of the memory, or less
constexpr std::uint64_t part_facts_bytes = 256;  // of the part: its file, its place in the search, its sums

std::uint64_t run_records_of(const PartitionWanted& wanted, std::uint64_t bytes) {
  return std::max<std::uint64_t>(std::min(bytes / wanted.records.format.record_size, wanted.records.input_records), 1);
}

// The next run begins with a unit of the file where this one does, so that no unit is read twice.
std::uint64_t in_whole_units(const PartitionWanted& wanted, std::uint64_t run_records) {
  const std::uint64_t unit = std::max<std::uint64_t>(wanted.records.input_alignment, page_bytes);
  const std::uint64_t records = unit / std::gcd(unit, std::uint64_t{wanted.records.format.record_size});
  return run_records > records ? round_down(run_records, records) : run_records;
}

// The least that holds a record behind the bytes that the block before left over.
std::uint64_t least_block(const PartitionWanted& wanted) {
  return std::max(least_slice_block_bytes, round_up(wanted.records.format.record_size, page_bytes) + page_bytes);
}

// The system clears every page that is touched: blocks of all parts are a small part of the range, unless it is small.
std::uint64_t most_block(const PartitionWanted& wanted) {
  const std::uint64_t range = wanted.records.input_records * wanted.records.format.record_size;
  return slice_block_for(wanted.parts, range, least_block(wanted));
}

PartitionPlan layout(const PartitionWanted& wanted, std::uint64_t block_bytes, std::uint64_t run_records) {
  const Wanted& records = wanted.records;
  PartitionPlan plan;
  plan.plan.wanted = records;
  Formation& formation = plan.plan.formation;
  formation.run_records = run_records;
  plan.runs = div_up(records.input_records, formation.run_records);
  formation.run_buffers =
      static_cast<unsigned>(clip(plan.runs, 1, wanted.is_sorted ? rotating_buffers_of_sorted : rotating_buffers));
  const std::uint64_t unit = std::max<std::uint64_t>(records.input_alignment, page_bytes);
  const std::uint64_t run_bytes = formation.run_records * records.format.record_size;
  formation.run_buffer_bytes = round_up(run_bytes, unit) + 2 * unit;
  formation.index_bytes = formation.scratch_bytes = round_up(formation.run_records * entry_bytes, page_bytes);
  formation.read_block_bytes = std::max(unit, std::min(records.requests.bytes, round_up(run_bytes, unit)));
  formation.write_block_bytes = block_bytes;
  formation.write_blocks = static_cast<unsigned>(wanted.parts + blocks_in_flight);
  const std::uint64_t pieces = records.threads <= 1 ? 1 : records.threads * pieces_per_thread;
  plan.table_bytes = round_up(formation.run_records * part_number_bytes, page_bytes) +
                     round_up(wanted.parts * pieces * part_count_bytes, page_bytes) +
                     wanted.parts * (std::uint64_t{3} * records.format.record_size + part_facts_bytes);
  plan.plan.read_depth = records.requests.depth;
  plan.plan.write_depth = std::min(records.requests.depth, blocks_in_flight);
  plan.plan.peak_memory_bytes = formation.run_buffers * (formation.run_buffer_bytes + formation.index_bytes) +
                                formation.scratch_bytes + block_bytes * formation.write_blocks + plan.table_bytes;
  return plan;
}

bool fits(const PartitionWanted& wanted, const PartitionPlan& plan) {
  return plan.plan.peak_memory_bytes <= wanted.records.memory_bytes;
}

// All at once, or in the fewest runs, all about equal.
std::optional<PartitionPlan> plan_sorted(const PartitionWanted& wanted, std::uint64_t block) {
  const std::uint64_t all = wanted.records.input_records, least = run_records_of(wanted, least_run_bytes);
  const std::uint64_t most = clip(all, 1, records::RecordTable::most_records);
  if (PartitionPlan plan = layout(wanted, block, most); fits(wanted, plan)) return plan;
  const auto is_too_large = [&](std::uint64_t run_records) { return !fits(wanted, layout(wanted, block, run_records)); };
  if (is_too_large(least)) return std::nullopt;
  const std::uint64_t runs = div_up(all, least_that_works(least, most, 1, is_too_large) - 1);
  return layout(wanted, block, div_up(all, runs));
}

std::optional<PartitionPlan> try_plan(const PartitionWanted& wanted, std::uint64_t block) {
  if (wanted.is_sorted) return plan_sorted(wanted, block);
  const std::uint64_t usual_run = clip(wanted.records.memory_bytes / 16, least_run_bytes, most_run_bytes);
  PartitionPlan plan = layout(wanted, block, in_whole_units(wanted, run_records_of(wanted, usual_run)));
  return fits(wanted, plan) ? std::optional(plan) : std::nullopt;
}

bool blocks_leave_room(const PartitionWanted& wanted, std::uint64_t block) {
  return !wanted.is_sorted || (wanted.parts + blocks_in_flight) * block <= wanted.records.memory_bytes / blocks_share_of_sorted;
}

}  // namespace

std::uint64_t slice_block_for(std::uint64_t parts, std::uint64_t range_bytes, std::uint64_t least) {
  constexpr std::uint64_t share = 16;
  std::uint64_t block = std::max(most_slice_block_bytes, least);
  while (block / 2 >= least && block > range_bytes / parts / share) block = round_down(block / 2, page_bytes);
  return block;
}

PartitionPlan plan_partition(const PartitionWanted& wanted) {
  const std::uint64_t memory = wanted.records.memory_bytes, least = least_block(wanted);
  for (std::uint64_t block = most_block(wanted); block > least; block = std::max(least, round_down(block / 2, page_bytes)))
    if (blocks_leave_room(wanted, block))
      if (const auto plan = try_plan(wanted, block)) return *plan;
  if (const auto plan = try_plan(wanted, least)) return *plan;
  PartitionPlan smallest = layout(wanted, least, run_records_of(wanted, least_run_bytes));
  if (fits(wanted, smallest)) return smallest;
  const std::uint64_t need = smallest.plan.peak_memory_bytes;
  throw NotEnoughMemory(
      fmt::format("{} part{} with a write block of {} each, and what is read ahead, take {} of memory, there are {}",
                  wanted.parts, wanted.parts == 1 ? "" : "s", format_bytes(least), format_bytes(need), format_bytes(memory)),
      memory, need);
}

}  // namespace ecosort::planner
