#include "engine/fixed/merge_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/errors.h"

namespace ecosort::engine::fixed {

MergeRuns::MergeRuns(const RecordTools& tools, const planner::MergeBuffers& buffers, std::uint64_t waiting_bytes,
                     std::vector<MergedRun> sources)
    : tools_(tools),
      reactor_(tools.bench.reactor),
      compute_(tools.bench.compute),
      store_(tools.store),
      encoder_(tools.encoder),
      buffers_(buffers),
      waiting_bytes_(waiting_bytes),
      memory_(tools.bench.memory),
      sources_(std::move(sources)),
      prefetch_(tools, buffers.block_bytes, memory_.allocate(buffers.block_bytes * buffers.blocks, "read blocks"), sources_),
      background_(reactor_.scope()) {
  for (const MergedRun& source : sources_) left_ += source.records - source.consumed;
}

// A round costs a look at every run, so it starts when a good part of the memory has arrived, or nothing more can.
Task<void> MergeRuns::wait_for_data(std::uint64_t batch_records) {
  const std::uint64_t enough = batch_records + sources_.size() * prefetch_.records_per_block();
  const std::uint64_t most = buffers_.blocks * prefetch_.records_per_block() * 3 / 4;
  while (prefetch_.in_flight() > 0 && prefetch_.ready_records() < std::min(enough, most)) co_await prefetch_.arrived().changed();
}

Task<MergeRuns::Round> MergeRuns::next_round(std::uint64_t batch_records) {
  co_await wait_for_data(batch_records);
  while (true) {
    Round round = look();
    if (round.records > 0) co_return round;
    if (prefetch_.in_flight() == 0) {
      if (!round.blocking || !sources_[*round.blocking].starving())
        throw InternalError("the merge cannot continue although every run has its buffers");
      prefetch_.demand(*round.blocking);
      if (prefetch_.in_flight() == 0) continue;  // a resident block that was gathered at once: nothing more will arrive
    }
    co_await prefetch_.arrived().changed();
  }
}

MergeRuns::Round MergeRuns::look() const {
  Round round;
  for (const MergedRun& source : sources_) {
    round.views.push_back(prefetch_.view(source));
    round.ranges.push_back({source.consumed, source.ready_end});
  }
  limit(round);
  for (const RunRange& range : round.ranges) round.records += range.end - range.begin;
  return round;
}

// No record may be merged that could come after one that is not in memory. Such a run gives a bound: its last record in
// memory, or, where it has none, the key its next block begins with.
void MergeRuns::limit(Round& round) const {
  Bound last;                            // the smallest last record in memory
  std::optional<run::ForecastKey> next;  // the smallest key of a run without records in memory
  std::uint32_t next_run = 0;
  for (std::uint32_t i = 0; i < sources_.size(); ++i) {
    const MergedRun& source = sources_[i];
    if (source.ready_end == source.records) continue;
    if (source.ready_end > source.consumed) {
      const std::byte* record = round.views[i].record(source.ready_end - 1);
      if (!last.any || encoder_.compare(record, last.record) < 0) last = {true, record, i};
    } else if (const run::ForecastKey key = prefetch_.next_key(source); !next || key < *next) {
      next = key;
      next_run = i;
    }
  }
  for (std::uint32_t i = 0; i < sources_.size(); ++i) {
    RunRange& range = round.ranges[i];
    range.end = first_after(round.views[i], range, i, last, encoder_);
    if (next) range.end = first_not_before(round.views[i], range, i, *next, next_run, encoder_, store_.forecast().shared_key());
  }
  if (next) round.blocking = next_run;
}

Task<BatchResult> MergeRuns::merge_next(Round& round, std::uint64_t count, BatchTarget target) {
  BatchResult batch;
  auto work = compute_.run([&] { batch = merge_batch(round.views, round.ranges, count, encoder_, target, compute_.threads()); });
  co_await work;
  for (std::uint32_t i = 0; i < sources_.size(); ++i) {
    round.ranges[i].begin = batch.consumed[i];
    if (batch.consumed[i] != sources_[i].consumed) prefetch_.consume(i, batch.consumed[i]);
  }
  prefetch_.advance();
  round.records -= count;
  left_ -= count;
  co_return batch;
}

// Besides the runs and the output there is room for the records that are in memory only and not merged yet.
std::uint64_t MergeRuns::most_waiting_bytes() const {
  std::uint64_t records = 0;
  for (const MergedRun& source : sources_)
    if (source.is_resident) records += source.records - source.consumed;
  constexpr std::uint64_t padding_share = 64;  // of a stored record's bytes, at most
  const std::uint64_t room = records * encoder_.record_size();
  return waiting_bytes_ + room - room / padding_share;
}

// Every release costs a journal entry of the file system and keeps reads of its file waiting. So nothing is given back before as
// much waits as there is room for, and then the most that waits in one run: pieces twice as large as with a limit for each run.
void MergeRuns::release_consumed(const BatchResult& batch) {
  struct Waiting {
    std::uint64_t bytes, run_blocks;
    std::size_t run;
  };
  std::vector<Waiting> waiting;
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; i < sources_.size(); ++i) {
    const MergedRun& source = sources_[i];
    if (source.is_resident || source.in_input != nullptr) continue;
    // Whole run blocks only: what is left of one may still be read by the next batch, from memory, but never again from the file.
    const bool is_consumed = batch.consumed[i] == source.records;
    const std::uint64_t run_blocks = is_consumed ? source.run_blocks : batch.consumed[i] / store_.run_block().records;
    const std::uint64_t bytes = store_.waiting_bytes(source.stored, run_blocks);
    if (bytes > 0 && is_consumed) {
      background_.spawn(store_.release_until(source.stored, run_blocks));
    } else if (bytes > 0) {
      waiting.push_back({bytes, run_blocks, source.stored});
      total += bytes;
    }
  }
  const std::uint64_t most = most_waiting_bytes();
  if (total <= most) return;
  std::ranges::sort(waiting, std::greater(), &Waiting::bytes);
  for (auto largest = waiting.begin(); total > most; ++largest) {
    background_.spawn(store_.release_until(largest->run, largest->run_blocks));
    total -= largest->bytes;
  }
}

Task<void> MergeRuns::merge_to_output(CheckedOutput& output) { return merge_all(output, nullptr, Ending::complete); }

Task<void> MergeRuns::merge_to_output(CheckedOutput& output, ReleaseHook& hook, Ending ending) {
  return merge_all(output, &hook, ending);
}

Task<void> MergeRuns::merge_all(CheckedOutput& output, ReleaseHook* hook, Ending ending) {
  TaskGroup merging(reactor_.scope());
  merging.spawn(put_batches(output, hook, ending));
  co_await merging.settle();
  co_await output.settle();
  co_await finish();
}

Task<void> MergeRuns::put_batches(CheckedOutput& output, ReleaseHook* hook, Ending ending) {
  const std::uint64_t batch_records = output.records_per_batch();
  const std::uint64_t most = most_output_.value_or(UINT64_MAX);
  if (hook != nullptr || most_output_) prefetch_.keep_sums();
  prefetch_.advance();
  while (left_ > 0 && output.records_put() < most) {
    Round round = co_await next_round(batch_records);
    while (round.records > 0 && output.records_put() < most) {
      const std::uint64_t count = std::min({round.records, batch_records, most - output.records_put()});
      if (hook != nullptr) co_await hook->before_batch(count * encoder_.record_size());
      std::byte* const out = co_await output.take(output.records_put());
      const BatchResult batch = co_await merge_next(round, count, BatchTarget{out, nullptr, 0, 0, 0});
      if (hook == nullptr) release_consumed(batch);
      co_await output.put(out, count, batch.checked);
      if (hook != nullptr) hook->after_batch({sources_, batch.checked.tally.hash});
    }
  }
  if (most_output_) taken_ = co_await consumed();
  if (ending == Ending::complete) co_await output.finish();
}

// The blocks stay what they are until a batch is consumed, whatever arrives meanwhile.
Task<hash::MultisetHash> MergeRuns::consumed() {
  hash::MultisetHash sum;
  const std::vector<Prefetch::OpenRunBlock> open = prefetch_.open_run_blocks();
  auto work = compute_.run([&] { sum = sum_of_consumed(open, encoder_.record_size()); });
  co_await work;
  sum += prefetch_.consumed_run_blocks();
  co_return sum;
}

// On the error path, too, everything under way must end before its buffers do.
Task<void> MergeRuns::finish() {
  co_await prefetch_.settle();
  co_await background_.join();
}

Task<void> MergeRuns::merge_to_run(std::size_t run) {
  RunSink sink(tools_, buffers_, run);
  TaskGroup merging(reactor_.scope());
  merging.spawn(fill_run(sink));
  co_await merging.settle();
  co_await sink.settle();
  co_await finish();
  sink.finish();
}

Task<void> MergeRuns::fill_run(RunSink& sink) {
  prefetch_.advance();
  while (left_ > 0) {
    Round round = co_await next_round(sink.block_records());
    while (round.records > 0) {
      const BatchTarget target = co_await sink.take();
      const std::uint64_t count = std::min(round.records, sink.room());
      const BatchResult batch = co_await merge_next(round, count, target);
      release_consumed(batch);
      sink.put(count, left_ == 0);
    }
  }
}

}  // namespace ecosort::engine::fixed
