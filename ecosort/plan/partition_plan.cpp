#include "plan/partition_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/errors.h"
#include "base/memory.h"
#include "base/size_text.h"
#include "formats/fixed/record_table.h"
#include "plan/arithmetic.h"

namespace ecosort::planner {
namespace {

constexpr unsigned rotating_buffers = 3;
constexpr unsigned blocks_in_flight = 12;
constexpr std::uint64_t least_run_bytes = 256 * KiB, most_run_bytes = 4 * MiB;
constexpr std::uint64_t part_number_bytes = 2, part_count_bytes = 4;
constexpr std::uint64_t part_facts_bytes = 256;  // of the part: its file, its place in the search, its sums

std::uint64_t run_records_of(const PartitionWanted& wanted, std::uint64_t bytes) {
  const Wanted& records = wanted.records;
  if (wanted.is_sorted) return records.input_records;
  return std::min(std::max<std::uint64_t>(bytes / records.format.record_size, 1), records.input_records);
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

PartitionPlan layout(const PartitionWanted& wanted, std::uint64_t block_bytes, std::uint64_t most_run) {
  const Wanted& records = wanted.records;
  PartitionPlan plan;
  plan.plan.wanted = records;
  Formation& formation = plan.plan.formation;
  formation.run_records = std::max<std::uint64_t>(run_records_of(wanted, most_run), 1);
  plan.runs = div_up(records.input_records, formation.run_records);
  formation.run_buffers = static_cast<unsigned>(clip(plan.runs, 1, rotating_buffers));
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

}  // namespace

std::uint64_t slice_block_for(std::uint64_t parts, std::uint64_t range_bytes, std::uint64_t least) {
  constexpr std::uint64_t share = 16;
  std::uint64_t block = std::max(most_slice_block_bytes, least);
  while (block / 2 >= least && block > range_bytes / parts / share) block = round_down(block / 2, page_bytes);
  return block;
}

PartitionPlan plan_partition(const PartitionWanted& wanted) {
  const std::uint64_t memory = wanted.records.memory_bytes, least = least_block(wanted);
  if (wanted.is_sorted && wanted.records.input_records > records::RecordTable::most_records)
    throw UsageError(fmt::format("a range of {} records is too long to be sorted at once; {} are possible",
                                 wanted.records.input_records, records::RecordTable::most_records));
  const std::uint64_t usual_run = clip(memory / 16, least_run_bytes, most_run_bytes);
  for (std::uint64_t block = most_block(wanted); block > least; block = std::max(least, round_down(block / 2, page_bytes)))
    if (PartitionPlan plan = layout(wanted, block, usual_run); plan.plan.peak_memory_bytes <= memory) return plan;
  if (PartitionPlan plan = layout(wanted, least, usual_run); plan.plan.peak_memory_bytes <= memory) return plan;
  PartitionPlan smallest = layout(wanted, least, least_run_bytes);
  const std::uint64_t need = smallest.plan.peak_memory_bytes;
  if (need <= memory) return smallest;
  throw NotEnoughMemory(fmt::format("{} part{} with a write block of {} each, and {}, take {} of memory, there are {}",
                                    wanted.parts, wanted.parts == 1 ? "" : "s", format_bytes(least),
                                    wanted.is_sorted ? "the whole range with its index" : "what is read ahead",
                                    format_bytes(need), format_bytes(memory)),
                        memory, need);
}

}  // namespace ecosort::planner
