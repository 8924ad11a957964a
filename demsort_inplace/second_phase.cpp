#include "demsort_inplace/second_phase.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "base/errors.h"
#include "demsort_inplace/adopt_runs.h"
#include "engine/fixed/checked_output.h"

namespace ecosort::demsort_inplace {

namespace {

// Returns the record that those which follow must not come before. Empty: none is there yet.
Task<std::vector<std::byte>> last_record_of_output(Workbench& bench) {
  if (bench.state->records == 0) co_return std::vector<std::byte>();
  const std::uint64_t end = bench.state->records * bench.layout.record_size, begin = end - bench.layout.record_size;
  co_return co_await read_bytes(bench, *bench.files.output, begin, end);
}

}  // namespace

engine::fixed::WriteBehind make_writer(Workbench& bench, io::File& file) {
  const planner::MergeBuffers& buffers = bench.plan.merge.final;
  const engine::fixed::OutputTerms terms{.total_bytes = bench.layout.bytes(),
                                         .reserve_bytes = bench.layout.unit,
                                         .reserved_bytes = std::numeric_limits<std::uint64_t>::max(),
                                         .least_unit = bench.layout.unit};
  return {bench, file, buffers, terms, &*bench.store};
}

engine::fixed::MergeRuns make_merge(Workbench& bench, const std::vector<std::uint64_t>& runs) {
  const Layout& layout = bench.layout;
  std::vector<engine::fixed::MergedRun> sources;
  for (const std::uint64_t run : runs) {
    engine::fixed::MergedRun source;
    const std::uint64_t first = bench.first_adopted(run);
    source.stored = bench.numbers[run];
    source.records = layout.run_records(run) - first;
    source.consumed = bench.consumed(run) - first;
    sources.push_back(std::move(source));
  }
  return {{bench, bench.encoder, *bench.store}, bench.plan.merge.final, bench.plan.merge.waiting_bytes, std::move(sources)};
}

Task<State> merge(Workbench& bench) {
  const Layout& layout = bench.layout;
  if (!bench.state) bench.state = State{.consumed = std::vector<std::uint64_t>(layout.runs(), 0)};
  const std::uint64_t bytes = (layout.records - bench.state->records) * layout.record_size;
  bench.begin("merge", engine::Phase::merge, bytes, 2 * bytes);
  if (!bench.store) co_await adopt_runs(bench);
  std::vector<std::uint64_t> runs;  // the head of the input first: ties keep their order
  for (std::uint64_t run = layout.runs(); run-- > 0;)
    if (bench.consumed(run) < layout.run_records(run)) runs.push_back(run);
  Checkpoints checkpoints(bench, *bench.files.output);
  checkpoints.has_room(bench.output_room);
  co_await checkpoints.reserve();
  const std::vector<std::byte> last = co_await last_record_of_output(bench);
  {
    engine::fixed::WriteBehind writer = make_writer(bench, *bench.files.output);
    co_await writer.resume(bench.state->records * layout.record_size);
    engine::fixed::CheckedOutput output(writer, bench.compute, bench.encoder, {});
    output.continue_after(bench.state->records, last);
    engine::fixed::MergeRuns merger = make_merge(bench, runs);
    checkpoints.begin(writer, merger, runs);
    co_await merger.merge_to_output(output, checkpoints, engine::fixed::Ending::complete);
    co_await checkpoints.end();
    bench.report.demand_reads = merger.demand_reads();
  }
  bench.end();
  co_return checkpoints.position();
}

void verify(const Workbench& bench, const State& end) {
  hash::MultisetHash expected;
  for (const RunDone& done : bench.done) expected += done.tally.hash;
  const bool is_given_back = end.kind == State::Kind::abandoning && bench.trusts_drive;  // as the drive has it
  if ((end.hash == expected || is_given_back) && end.records == bench.layout.records) return;
  throw VerificationError(
      fmt::format("verification failed: {} records with hash {} were read, {} with hash {} were written; "
                  "the runs still hold what the last checkpoint does not",
                  bench.layout.records, expected.to_hex(), end.records, end.hash.to_hex()));
}

}  // namespace ecosort::demsort_inplace
