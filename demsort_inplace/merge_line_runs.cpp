#include "demsort_inplace/merge_line_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "demsort_inplace/line_checkpoints.h"
#include "engine/rows/merge_groups.h"
#include "engine/rows/merge_lines.h"

namespace ecosort::demsort_inplace {

namespace {

using engine::rows::MergeInput;

engine::rows::MergeTerms terms_of(const LinesBench& bench) {
  return {.groups = bench.job.groups, .hashes_input = bench.header.is_in_place()};
}

std::vector<MergeInput> inputs_of(const LinesBench& bench, const std::vector<std::uint64_t>& runs) {
  std::vector<MergeInput> inputs;
  inputs.reserve(runs.size());
  for (const std::uint64_t run : runs) inputs.push_back(bench.input_of(run));
  return inputs;
}

void check_merged(const LinesBench& bench, const std::vector<std::uint64_t>& sources, const engine::rows::MergedLines& merged) {
  hash::MultisetHash expected;
  for (const std::uint64_t run : sources) expected += bench.done[run].tally.hash;
  const hash::MultisetHash found = merged.out + merged.dropped;
  if (found == expected) return;
  throw VerificationError(fmt::format("verification failed: {} {} with hash {} are in the runs, {} with hash {} were merged",
                                      expected.count, bench.header.lines->items(), expected.to_hex(), found.count,
                                      found.to_hex()));
}

// The sources are given up when the journal says that they are not needed.
Task<void> merge_some(LinesBench& bench, const std::vector<std::uint64_t>& sources, unsigned slots,
                      const planner::LinePlan& plan) {
  const std::uint64_t number = bench.done.size();
  std::vector<MergeInput> inputs = inputs_of(bench, sources);
  const std::uint64_t bytes = engine::rows::bytes_of(inputs);
  bench.begin("intermediate_merge", engine::Phase::intermediate_merge, bytes, 2 * bytes);
  for (std::size_t i = 0; i < inputs.size(); ++i) co_await bench.open(inputs[i], sources[i]);
  bench.storage.set_size(*bench.files.output, 0);  // its space is the merged run's now
  run::RowRun stored = bench.create_run(number, bytes, sources);
  engine::rows::RowRunSink sink(bench.tools(plan), stored);
  engine::rows::MergeLines merge(bench.tools(plan), terms_of(bench), inputs, slots);
  co_await merge.merge_to(sink, {});
  bench.reactor.scope().throw_if_failed();
  co_await bench.run_files.complete(stored, sink.bytes());
  check_merged(bench, sources, merge.merged());
  bench.close(inputs);
  RunDone done{.run = number,
               .tally = {.hash = merge.merged().out, .checksum = {}},
               .packed_bytes = bench.run_files.packed_bytes(stored.stored)};
  done.lines = LineRunDone{.bytes = stored.bytes,
                           .longest = merge.merged().longest,
                           .next = bench.done.back().lines->next,
                           .dropped = merge.merged().dropped,
                           .first = sources.front(),
                           .merged = sources.size(),
                           .blank_lines = std::exchange(bench.uncounted_blank_lines, 0)};
  const RowJob job = bench.row_job(bench.header_run() != nullptr);
  co_await bench.make_durable(stored.stored, describe(job, done, place_of_merged(done, bench.done)));
  bench.run_files.close(stored.stored);
  bench.storage.sync_directory(bench.paths.directory);
  co_await bench.journal->append(done);
  bench.done.push_back(done);
  for (const std::uint64_t run : sources) remove_if_there(bench.storage, bench.paths.run(run));
  ++bench.report.merges;
  bench.end();
  if (const int signal_number = bench.interrupted.load(); signal_number != 0) throw Interrupted(signal_number);
}

}  // namespace

planner::LinePlan plan_of_groups(const LinesBench& bench) {
  planner::LinePlan plan = plan_beside_last_line(bench);
  plan.batch_size = std::min<std::size_t>(plan.batch_size, bench.header.lines->most_merged);
  return plan;
}

Task<void> merge_until_one_can(LinesBench& bench) {
  const planner::LinePlan plan = plan_of_groups(bench);
  engine::rows::MergeGroups groups(plan);
  std::vector<std::uint64_t> live = bench.live_runs();
  while (const auto group = groups.next(inputs_of(bench, live))) {
    const auto first = live.begin() + static_cast<std::ptrdiff_t>(group->first);
    co_await merge_some(bench, {first, first + static_cast<std::ptrdiff_t>(group->fit.inputs)}, group->fit.slots, plan);
    live = bench.live_runs();
  }
}

// Requires one merge: what the runs hold is nowhere else, so some cannot be merged before, which would take their space once
// more.
void require_one_merge(const LinesBench& bench) {
  const planner::LinePlan plan = plan_beside_last_line(bench);
  const std::vector<MergeInput> inputs = inputs_of(bench, bench.live_runs());
  if (engine::rows::fit_merge(plan, inputs, 0).inputs >= inputs.size()) return;
  const std::uint64_t need = engine::rows::merge_memory_bytes(plan, inputs, 1) + bench.job.plan.memory_bytes - plan.merge_bytes();
  throw NotEnoughMemory(fmt::format("{} runs, with {} of up to {} bytes, are merged at once, which takes {} bytes of memory",
                                    inputs.size(), bench.header.lines->items(), bench.longest_line(), need),
                        bench.job.plan.memory_bytes, need);
}

Task<std::string> read_header(LinesBench& bench) {
  std::string text;
  if (bench.header_run() == nullptr) co_return text;
  MergeInput header = bench.input_of(0);
  co_await bench.open(header, 0);
  const std::size_t block_bytes = bench.job.plan.block_bytes;
  const Buffer memory = bench.memory.allocate(block_bytes, "a block of the header");
  for (std::uint64_t block = 0; block < header.run.blocks(block_bytes); ++block) {
    const run::BlockContents contents = co_await bench.run_files.read_checked(header.run, block, memory.data());
    text.append(reinterpret_cast<const char*>(memory.data()), contents.used_bytes);
  }
  bench.run_files.close(header.run.stored);
  co_return text;
}

namespace {

// Holds what the output holds just before a place in it.
struct Before {
  Buffer memory;
  std::optional<Text> last_line;   // none: there is only the header
  engine::rows::DurableUnit unit;  // that the place lies in
  std::string lead;                // the beginning of that unit
};

Task<Before> look_before(LinesBench& bench, std::uint64_t place) {
  Before before;
  before.unit.begin = round_down(place, bench.unit());
  if (place == 0) co_return before;
  const std::uint64_t last_row = bench.state->lines->last_row;
  const std::uint64_t from = round_down(place - last_row, bench.unit());
  const std::uint64_t end = round_up(place, bench.unit());
  if (from == end) co_return before;
  before.memory = bench.memory.allocate(end - from, "the last line of the output");
  co_await bench.reactor.read(*bench.files.output, from, before.memory.data(), end - from, end - from);
  const char* const text = reinterpret_cast<const char*>(before.memory.data());
  if (place > before.unit.begin) {
    const std::byte* const unit = before.memory.data() + (before.unit.begin - from);
    before.unit.bytes.assign(unit, unit + (end - before.unit.begin));
    before.lead.assign(text + (before.unit.begin - from), place - before.unit.begin);
  }
  if (last_row > 0) before.last_line = Text(text + (place - last_row - from), last_row - 1);
  co_return before;
}

// Promise P1, across all interruptions.
void verify(const LinesBench& bench, const State& end) {
  hash::MultisetHash in_runs;
  for (const std::uint64_t run : bench.live_runs()) in_runs += bench.done[run].tally.hash;
  const hash::MultisetHash found = end.hash + end.lines->dropped;
  if (found == in_runs) return;
  throw VerificationError(
      fmt::format("verification failed: {} {} with hash {} are in the runs, {} with hash {} would come out; the output was not "
                  "written",
                  in_runs.count, bench.header.lines->items(), in_runs.to_hex(), found.count, found.to_hex()));
}

// A merge that has begun takes all runs that there are to the end.
void require_fit(const LinesBench& bench, const engine::rows::MergeFit& fit, std::size_t runs) {
  if (fit.inputs >= runs) return;
  throw NotEnoughMemory(fmt::format("the memory is too little to continue with this merge of {} runs", runs),
                        bench.job.plan.memory_bytes, bench.header.memory_bytes);
}

}  // namespace

Task<State> merge_to_output(LinesBench& bench, const std::string& header) {
  const planner::LinePlan plan = plan_beside_last_line(bench);
  const std::vector<std::uint64_t> live = bench.live_runs();
  const std::uint64_t place = bench.state->lines->bytes;
  std::vector<MergeInput> inputs = inputs_of(bench, live);
  const engine::rows::MergeFit fit = engine::rows::fit_merge(plan, inputs, 0);
  require_fit(bench, fit, inputs.size());
  const std::uint64_t left = bench.run_bytes() - std::min(bench.run_bytes(), place);
  bench.begin("merge", engine::Phase::merge, left, 2 * left);
  for (std::size_t i = 0; i < inputs.size(); ++i) co_await bench.open(inputs[i], live[i]);
  Before before = co_await look_before(bench, place);
  engine::rows::MergePart part{1, {}, before.last_line, {}};
  for (std::size_t i = 0; i < inputs.size(); ++i)
    part.ranges.push_back({bench.state->consumed.empty() ? 0 : bench.state->consumed[i], inputs[i].run.bytes});
  std::optional<GivenRuns> given;
  if (bench.header.is_in_place()) co_await given.emplace(bench, inputs).give(bench.state->consumed);
  engine::rows::OutputSink sink(bench.tools(plan), *bench.files.output);
  sink.continue_at(std::move(before.unit));
  engine::rows::MergeLines merge(bench.tools(plan), terms_of(bench), inputs, inputs.empty() ? 2 : fit.slots, part);
  LineCheckpoints checkpoints(bench, sink, *bench.state, given ? &*given : nullptr);
  merge.watch(checkpoints);
  co_await merge.merge_to(sink, place == 0 ? header : before.lead);
  bench.reactor.scope().throw_if_failed();
  bench.close(inputs);
  if (given) check_taken(merge.merged().in, merge.merged().out + merge.merged().dropped);
  State end = checkpoints.end(merge.merged(), sink.bytes());
  verify(bench, end);
  bench.report.longest_line = bench.longest_line();
  bench.end();
  co_return end;
}

}  // namespace ecosort::demsort_inplace
