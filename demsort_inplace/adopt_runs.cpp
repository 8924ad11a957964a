#include "demsort_inplace/adopt_runs.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "demsort_inplace/checkpoints.h"

namespace ecosort::inplace {

namespace {

constexpr std::uint64_t most_forecast_readers = 64;

// Punches again what was given back of a run: it may be there once more after a crash.
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

}  // namespace ecosort::inplace
