#include "planner/account.h"

#include <fmt/format.h>

#include <numeric>
#include <utility>

#include "planner/arithmetic.h"
#include "planner/gather_plan.h"

namespace ecosort::planner {

namespace {

// Each run has whole pages where runs are assumed to shrink.
std::uint64_t space_of_runs(const RecordPlan& plan, std::uint64_t bytes) {
  const std::uint64_t runs = plan.merge.stored_runs + plan.merge.steps.size();
  return std::min(bytes, plan.packing.space_of(bytes) + (plan.packing.assumed_ratio > 0 ? runs * page_bytes : 0));
}

}  // namespace

RunTraffic run_traffic(const RecordPlan& plan, const std::function<std::uint64_t(std::uint64_t records)>& bytes_of) {
  RunTraffic traffic;
  std::uint64_t each = 0;  // nearly all runs are as long as the one before
  for (std::size_t i = 0; i < plan.merge.stored_runs; ++i) {
    if (i == 0 || plan.runs[i] != plan.runs[i - 1]) each = bytes_of(plan.runs[i]);
    traffic.at_first += each;
  }
  std::uint64_t now = traffic.at_most = traffic.at_first;
  if (plan.merge.steps.size() < 2) return traffic;  // and needs no list of runs that changes
  // Steps come in the order of their runs: the list is merged in front, and goes on at `rest`. To close the gap between them at
  // every step would move all that follows.
  std::vector<std::uint64_t> runs = plan.runs;
  std::size_t front = 0, rest = 0;
  for (std::size_t i = 0; i + 1 < plan.merge.steps.size(); ++i) {
    const MergeStep& step = plan.merge.steps[i];
    while (front < step.first_run) runs[front++] = runs[rest++];
    while (front > step.first_run) runs[--rest] = runs[--front];
    std::uint64_t records = 0, before = 0;
    for (const std::size_t end = rest + step.fan_in; rest < end; ++rest) {
      records += runs[rest];
      before += bytes_of(runs[rest]);
    }
    const std::uint64_t merged = bytes_of(records);
    traffic.remerged += merged;
    traffic.at_most = std::max(traffic.at_most, now + merged);
    now += merged - before;
    runs[front++] = records;
  }
  return traffic;
}

void account(RecordPlan& plan, std::vector<std::uint64_t> runs) {
  const std::uint64_t input = plan.wanted.input_records * plan.wanted.format.record_size;
  plan.runs = std::move(runs);
  const RunTraffic traffic =
      run_traffic(plan, [&](std::uint64_t records) { return run_blocks_of(plan.run_block, records) * plan.run_block.bytes; });
  plan.stored_records = std::accumulate(plan.runs.begin(), plan.runs.begin() + plan.merge.stored_runs, std::uint64_t{0});
  plan.run_bytes = traffic.at_first;
  plan.remerged_bytes = traffic.remerged;
  plan.temp_bytes = space_of_runs(plan, traffic.at_most);
  plan.bytes_read = plan.bytes_written = input + traffic.at_first + traffic.remerged;
  plan.bytes_written += plan.wanted.input_records * plan.wanted.count_bytes;
  const std::uint64_t besides = plan.forecast_bytes + plan.packing.bytes();
  const std::uint64_t resident =
      plan.merge.resident_runs * (plan.formation.run_buffer_bytes + plan.formation.index_bytes) + besides;
  plan.peak_memory_bytes = std::max({plan.formation.memory_bytes() + besides, resident + plan.merge.final.memory_bytes(),
                                     besides + plan.merge.intermediate.memory_bytes()});
}

void account_edges(RecordPlan& plan, const std::vector<InputExtent>& inputs, std::uint64_t output_unit) {
  if (plan.shape == Shape::empty || plan.shape == Shape::unknown) return;
  const std::uint64_t records = plan.wanted.input_records, size = plan.wanted.format.record_size;
  const std::uint64_t written = records * plan.wanted.output_record_size();
  plan.bytes_written += round_up(written, output_unit) - written;
  if (plan.shape == Shape::gathered) return account_gather(plan, inputs);
  for (const InputExtent& input : inputs) plan.bytes_read += input.start_bytes % input.alignment;
  std::uint64_t cut = 0, before = 0;  // the first record of a run; the records of the inputs before `input`
  auto input = inputs.begin();
  for (std::uint64_t run = 0; cut < records; ++run) {
    while (cut >= before + input->records) before += input++->records;
    const std::uint64_t position = input->start_bytes + (cut - before) * size;
    const std::uint64_t end = input->start_bytes + input->records * size;
    const std::uint64_t from = round_down(position, input->alignment);
    if (cut > before && position > from) plan.bytes_read += std::min(from + input->alignment, end) - from;
    cut += plan.formation.records_of_run(run, records - cut);
  }
}

// Fewest bytes moved; of equals the one with the largest merge blocks. Below 256 KiB a block costs more in requests than a
// resident run saves.
std::pair<std::uint64_t, std::uint64_t> cost(const RecordPlan& plan) {
  const bool small = plan.merge.stored_runs > 0 && plan.merge.final.block_bytes < std::min(256 * KiB, plan.wanted.requests.bytes);
  return {plan.bytes_read + (small ? plan.bytes_read / 8 : 0), ~plan.merge.final.block_bytes};
}

RecordPlan::Ledger RecordPlan::formation_ledger() const {
  if (shape == Shape::gathered)
    return {{"keys, checksums and index of all records", gathering.index_bytes},
            {fmt::format("{} read blocks", gathering.reads), gathering.reads * gathering.read_block_bytes}};
  return {{fmt::format("{} run buffers", formation.run_buffers), formation.run_buffers * formation.run_buffer_bytes},
          {"index (16 bytes per record)", formation.run_buffers * formation.index_bytes},
          {"index sort scratch", formation.scratch_bytes},
          {fmt::format("{} write blocks", formation.write_blocks), formation.write_blocks * formation.write_block_bytes},
          {"bounce blocks", formation.bounce_blocks * formation.read_block_bytes},
          {"forecast table", forecast_bytes},
          {"coders of runs, and their index", packing.bytes()}};
}

RecordPlan::Ledger RecordPlan::merge_ledger() const {
  const MergeBuffers& b = merge.final;
  if (shape == Shape::gathered)
    return {{"keys, checksums and index of all records", gathering.index_bytes},
            {fmt::format("{} read blocks", gathering.reads), gathering.reads * gathering.read_block_bytes},
            {fmt::format("{} output blocks", b.output_blocks), b.output_blocks * b.output_block_bytes}};
  return {{fmt::format("{} resident runs with index", merge.resident_runs),
           merge.resident_runs * (formation.run_buffer_bytes + formation.index_bytes)},
          {fmt::format("{} read blocks", b.blocks), b.blocks * b.block_bytes},
          {fmt::format("{} output blocks", b.output_blocks), b.output_blocks * b.output_block_bytes},
          {"index of the output blocks", b.output_blocks * b.index_bytes},
          {"forecast table", forecast_bytes},
          {"coders of runs, and their index", packing.bytes()}};
}

}  // namespace ecosort::planner
