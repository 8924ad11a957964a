#include "demsort_inplace/adopt_runs.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "demsort_inplace/kept_keys.h"
#include "demsort_inplace/key_windows.h"

namespace ecosort::demsort_inplace {

namespace {

// The first run block, as the store counts, of which something is left.
std::uint64_t first_block_left(const Workbench& bench, std::uint64_t run) {
  return (bench.consumed(run) - bench.first_adopted(run)) / bench.layout.run_block.records;
}

// Punches again what was given back of a run: it may be there once more after a crash.
Task<void> punch_again(Workbench& bench, std::uint64_t run) {
  const std::size_t number = bench.numbers[run];
  const std::uint64_t head = bench.layout.head_bytes;
  const std::uint64_t begin = round_down(bench.store->begin_in_file(number, first_block_left(bench, run)), bench.layout.unit);
  if (begin > head) (void)co_await bench.reactor.release(bench.store->run(number).file(), head, begin - head);
}

// The forecasts of runs that the journal knows. Several are read at a time: one after the other takes long on a hard disk.
class Forecasts {
 public:
  Forecasts(Workbench& bench, std::vector<std::uint64_t> runs) : bench_(bench), layout_(bench.layout), runs_(std::move(runs)) {}

  Task<void> read() {
    bench_.store->forecast().take_in_unknown(bench_.encoder);
    if (bench_.encoder.key_length() == 0) co_return bench_.store->forecast().forget_keys();
    TaskGroup readers(bench_.reactor.scope());
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(most_readers, runs_.size()); ++i) readers.spawn(take_kept());
    co_await readers.join();
    if (!without_.empty()) co_await read_from_blocks();
  }

 private:
  static constexpr std::uint64_t most_readers = 64;

  // One of those that take turns until there are no more runs.
  Task<void> take_kept() {
    while (next_ < runs_.size()) {
      const std::uint64_t run = runs_[next_++];
      if (!co_await has_taken_kept(run)) without_.push_back(run);
    }
  }

  Task<bool> has_taken_kept(std::uint64_t run) {
    const std::uint64_t stride = layout_.key_stride;
    if (stride == 0 || stride != bench_.plan.forecast_stride) co_return false;
    const run::StoredRun& stored = bench_.store->run(bench_.numbers[run]);
    const std::uint64_t size = kept_keys_bytes(layout_.run_run_blocks(run), stride), end = layout_.head_bytes;
    const std::vector<std::byte> bytes = co_await read_bytes(bench_, stored.file(), end - size, end);
    const auto keys = decode_keys(bench_.header, run, bytes);
    if (!keys) co_return false;
    const std::uint64_t first = bench_.first_adopted(run) / layout_.run_block.records / stride;
    const std::size_t number = bench_.numbers[run];
    run::Forecast& forecast = bench_.store->forecast();
    if (bench_.key_windows) bench_.key_windows->keep(number, run, {bytes.data(), keys->size() * kept_key_bytes}, first);
    for (std::uint64_t block = 0; block < stored.blocks; block += stride)
      forecast.set(number, block, (*keys)[first + block / stride]);
    forecast.keep_window(number);
    co_return true;
  }

  // The buffers of the merge are not there yet.
  Task<void> read_from_blocks() {
    const std::uint64_t block = bench_.store->block_bytes(), room = bench_.plan.wanted.memory_bytes / 4 / block;
    const Buffer memory =
        bench_.memory.allocate(std::clamp<std::uint64_t>(room, 1, most_readers) * block, "run blocks of the forecast");
    for (const std::uint64_t run : without_)
      co_await bench_.store->read_forecast(bench_.numbers[run], layout_.run_records(run) - bench_.first_adopted(run),
                                           first_block_left(bench_, run), bench_.encoder, {memory.data(), memory.size()});
  }

  Workbench& bench_;
  const Layout& layout_;
  const std::vector<std::uint64_t> runs_;
  std::size_t next_ = 0;
  std::vector<std::uint64_t> without_;  // no table of theirs suits
};

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
  if (bench.plan.forecast_window > 0) {
    bench.key_windows = std::make_unique<KeyWindows>(bench, bench.store->forecast().lead());
    bench.store->forecast().read_from(*bench.key_windows);
    bench.store->forecast().take_in_unknown(bench.encoder);  // keys are kept as they are where nothing is known of other runs
  }
  bench.numbers.assign(layout.runs(), 0);
  std::vector<std::uint64_t> known;
  for (std::uint64_t run = 0; run < layout.runs(); ++run) {
    if (bench.consumed(run) == layout.run_records(run)) continue;
    const std::uint64_t first = bench.first_adopted(run), first_block = first / layout.run_block.records;
    const std::size_t number =
        bench.store->adopt(std::move(bench.files.runs[run]), run, layout.run_records(run) - first, first_block);
    bench.numbers[run] = number;
    if (run >= bench.done.size()) {
      bench.store->pack_where_possible(number);
      continue;
    }
    if (bench.done[run].packed_bytes > 0) co_await bench.store->find_packed(number, first_block, bench.done[run].packed_bytes);
    if (layout.packs && !layout.keeps_runs) co_await punch_again(bench, run);
    known.push_back(run);
  }
  if (known.empty()) co_return;
  Forecasts forecasts(bench, std::move(known));
  co_await forecasts.read();
}

}  // namespace ecosort::demsort_inplace
