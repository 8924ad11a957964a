#include "demsort_inplace/second_phase.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/fixed/checked_output.h"

namespace ecosort::inplace {

namespace {

constexpr std::uint64_t most_forecast_readers = 64;

// What the records that follow must not come before. Empty: none is there yet.
Task<std::vector<std::byte>> last_record_of_output(Workbench& bench) {
  if (bench.state->records == 0) co_return std::vector<std::byte>();
  const std::uint64_t end = bench.state->records * bench.layout.record_size, begin = end - bench.layout.record_size;
  co_return co_await read_bytes(bench, *bench.files.output, begin, end);
}

// What was given up of a run may be there once more after a crash.
Task<void> punch_again(Workbench& bench, std::size_t number) {
  const std::uint64_t head = bench.layout.head_bytes;
  const std::uint64_t begin = round_down(bench.store->begin_in_file(number, 0), bench.layout.unit);
  if (begin > head) (void)co_await bench.reactor.release(bench.store->run(number).file(), head, begin - head);
}

// To read the run blocks one after the other takes an hour on a hard disk. The buffers of the merge are not there yet.
std::uint64_t forecast_readers(const Workbench& bench) {
  return std::clamp<std::uint64_t>(bench.plan.wanted.memory_bytes / 4 / bench.store->block_bytes(), 1, most_forecast_readers);
}

}  // namespace

// Runs that hold nothing any more stay out of the store.
Task<void> adopt_runs(Workbench& bench) {
  const Layout& layout = bench.layout;
  if (layout.packs)
    bench.packer = std::make_unique<run::RunPacker>(bench.plan.packing,
                                                    run::BlockShape{layout.run_block.bytes, layout.record_size}, bench.memory);
  bench.store.emplace(bench.storage, bench.reactor, bench.plan,
                      run::KeptRuns{direction_of(layout), bench.header.job, layout.head_bytes, layout.unit}, bench.packer.get());
  if (bench.trusts_drive && bench.state && bench.state->kind == State::Kind::abandoning) bench.store->take_as_it_is();
  bench.numbers.assign(layout.runs(), 0);
  const Buffer memory = bench.memory.allocate(forecast_readers(bench) * bench.store->block_bytes(), "run blocks of the forecast");
  for (std::uint64_t run = 0; run < layout.runs(); ++run) {
    if (bench.consumed(run) == layout.run_records(run)) continue;
    const std::uint64_t first = first_record_left(layout, bench.consumed(run)), first_block = first / layout.run_block.records;
    const std::uint64_t records = layout.run_records(run) - first;
    const std::size_t number = bench.store->adopt(std::move(bench.files.runs[run]), run, records, first_block);
    bench.numbers[run] = number;
    if (run >= bench.done.size()) {
      bench.store->pack_where_possible(number);
      continue;
    }
    if (bench.done[run].packed_bytes > 0) co_await bench.store->find_packed(number, first_block, bench.done[run].packed_bytes);
    if (layout.packs && !layout.keeps_runs) co_await punch_again(bench, number);
    co_await bench.store->read_forecast(number, records, bench.encoder, {memory.data(), memory.size()});
  }
}

engine::WriteBehind make_writer(Workbench& bench, io::File& file) {
  const planner::MergeBuffers& buffers = bench.plan.merge.final;
  const engine::OutputTerms terms{.total_bytes = bench.layout.bytes(),
                                  .reserve_bytes = bench.layout.unit,
                                  .reserved_bytes = std::numeric_limits<std::uint64_t>::max(),
                                  .least_unit = bench.layout.unit};
  return {bench, file, buffers, terms, &*bench.store};
}

engine::MergeRuns make_merge(Workbench& bench, const std::vector<std::uint64_t>& runs) {
  const Layout& layout = bench.layout;
  std::vector<engine::MergeInput> sources;
  for (const std::uint64_t run : runs) {
    engine::MergeInput source;
    const std::uint64_t first = first_record_left(layout, bench.consumed(run));
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
  std::vector<std::uint64_t> runs;  // the head of the input first: ties keep their order
  for (std::uint64_t run = layout.runs(); run-- > 0;)
    if (bench.consumed(run) < layout.run_records(run)) runs.push_back(run);
  bench.begin("merge", engine::Phase::merge, (layout.records - bench.state->records) * layout.record_size);
  Checkpoints checkpoints(bench, *bench.files.output);
  checkpoints.has_room(bench.output_room);
  co_await checkpoints.reserve();
  const std::vector<std::byte> last = co_await last_record_of_output(bench);
  {
    engine::WriteBehind writer = make_writer(bench, *bench.files.output);
    co_await writer.resume(bench.state->records * layout.record_size);
    engine::CheckedOutput output(writer, bench.compute, bench.encoder, false);
    output.continue_after(bench.state->records, last);
    engine::MergeRuns merger = make_merge(bench, runs);
    checkpoints.begin(writer, merger, runs);
    co_await merger.merge_to_output(output, checkpoints, engine::Ending::complete);
    co_await checkpoints.end();
    bench.report.demand_reads = merger.demand_reads();
  }
  bench.end();
  co_return checkpoints.position();
}

}  // namespace ecosort::inplace
