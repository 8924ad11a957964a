#include "engine/partition/partition_records.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/memory.h"
#include "base/stream_copy.h"
#include "engine/fixed/extract_records.h"
#include "engine/partition/classifier.h"
#include "engine/partition/extremes.h"
#include "engine/partition/fill_slices.h"
#include "engine/partition/slice_order.h"
#include "formats/records/encoder.h"
#include "formats/records/gather.h"
#include "formats/records/index_sort.h"

namespace ecosort::engine::partition {
namespace {

using records::Encoder;
using sorting::Entry;

constexpr std::size_t step_bytes = std::size_t{8} * 1024;  // gathered at a time, but for longer records

// One thread cuts a run piece by piece: some rows of each part, as many as stay in the second-level cache.
constexpr std::uint64_t least_piece_bytes = std::uint64_t{256} << 10U, most_piece_bytes = std::uint64_t{1} << 20U;
constexpr std::uint64_t piece_bytes_per_part = std::uint64_t{8} << 10U;

std::vector<records::KeyWindow> windows_of(const Encoder& encoder, const std::vector<Splitter>& splitters) {
  std::vector<records::KeyWindow> windows;
  windows.reserve(splitters.size());
  for (const Splitter& splitter : splitters) windows.push_back(encoder.first_window(bytes_of(splitter.row)));
  return windows;
}

// Decides ties of the classifier for the records of a run.
struct RecordTies {
  const Encoder& encoder;
  const std::vector<Splitter>& splitters;
  records::RecordTable table;
  std::uint64_t first_offset;  // of the run in its source

  [[nodiscard]] int compare(const Entry& row, std::size_t splitter) const {
    return encoder.decides() ? 0 : encoder.compare(table.at(row.index), bytes_of(splitters[splitter].row));
  }
  [[nodiscard]] std::uint64_t offset(const Entry& row) const noexcept {
    return first_offset + std::uint64_t{row.index} * encoder.record_size();
  }
};

// Members are declared in the order in which they may be used.
class RecordCutter final : public Cutter {
 public:
  static BenchSize size_of(const PartitionRecordsJob& job) {
    const planner::RecordPlan& plan = job.plan.plan;
    return {plan.wanted.memory_bytes, plan.wanted.threads, plan.read_depth, plan.write_depth};
  }
  static SliceBlocks blocks_of(const PartitionRecordsJob& job) {
    return {job.plan.plan.formation.write_block_bytes, job.plan.plan.formation.write_blocks};
  }

  RecordCutter(PartitionRecordsJob& job, Bench& bench, SliceFiles& files)
      : job_(job),
        plan_(job.plan.plan),
        bench_(bench),
        encoder_(plan_.wanted.format),
        classifier_(job.terms.splitters, windows_of(encoder_, job.terms.splitters), job.terms.source),
        reader_(bench, plan_, encoder_, job.inputs),
        order_(classifier_, plan_.formation.run_records, plan_.wanted.threads, bench.memory),
        files_(files),
        hashes_(classifier_.parts()),
        extremes_(classifier_.parts()),
        free_runs_(bench.reactor.scope(), plan_.formation.run_buffers),
        arrived_(bench.reactor.scope()) {}

  [[nodiscard]] std::uint64_t bytes() const noexcept override { return plan_.wanted.input_records * encoder_.record_size(); }

  void begin(TaskGroup& work) override {
    allocate_runs();
    work.spawn(read_runs(work));
    work.spawn(cut_runs());
  }

  [[nodiscard]] std::string check_input() override {
    fixed::check_unchanged(bench_.storage, job_.inputs.front());
    return "";
  }

  void sum_up(PartitionReport& report) override {
    report.hash = reader_.tally().hash + tally_.hash;
    report.bytes = report.hash.count * encoder_.record_size();
    for (std::size_t part = 0; part < report.slices.size(); ++part) {
      Slice& slice = report.slices[part];
      slice.hash = hashes_[part];
      slice.first = extremes_[part].first();
      slice.last = extremes_[part].last();
    }
  }

 private:
  struct Run {
    fixed::RunBuffer buffer;
    bool is_full = false;
  };

  void allocate_runs() {
    const planner::Formation& formation = plan_.formation;
    runs_.resize(formation.run_buffers);
    for (Run& run : runs_) {
      run.buffer.bytes = bench_.memory.allocate(formation.run_buffer_bytes, "a run buffer");
      run.buffer.index = bench_.memory.allocate(formation.index_bytes, "the index of a run");
    }
    scratch_ = bench_.memory.allocate(formation.scratch_bytes, "the index of slices");
  }

  Task<void> read_runs(TaskGroup& work) {
    for (std::uint64_t number = 0; number < job_.plan.runs; ++number) {
      co_await free_runs_.take();
      work.spawn(read_run(number));
    }
  }

  Task<void> read_run(std::uint64_t number) {
    Run& run = runs_[number % runs_.size()];
    const std::uint64_t first = number * plan_.formation.run_records;
    const std::uint64_t count = std::min(plan_.formation.run_records, plan_.wanted.input_records - first);
    auto reading = job_.terms.is_sorted ? reader_.fill(run.buffer, first, count) : reader_.read(run.buffer, first, count);
    co_await std::move(reading);
    run.is_full = true;
    arrived_.notify();
  }

  // In their order, which is that of the rows in each slice.
  Task<void> cut_runs() {
    for (std::uint64_t number = 0; number < job_.plan.runs; ++number) {
      Run& run = runs_[number % runs_.size()];
      const bool together = drives_are_ahead() || job_.terms.is_sorted || piece_bytes() > most_piece_bytes;
      while (!run.is_full) co_await arrived_.changed();
      auto cutting = together ? cut_together(run.buffer, number) : cut_alone(run.buffer, number);
      co_await std::move(cutting);
      if (job_.terms.is_sorted && number + 1 < job_.plan.runs) co_await files_.begin_next();
      run.is_full = false;
      free_runs_.give();
    }
  }

  [[nodiscard]] std::uint64_t piece_bytes() const { return std::max(least_piece_bytes, files_.parts() * piece_bytes_per_part); }

  // Since the last time that this was asked, neither what is read nor what is written had to be waited for.
  bool drives_are_ahead() {
    const bool has_waited = files_.waits() > std::exchange(waits_, files_.waits());
    return !has_waited && bench_.compute.threads() > 1 && std::ranges::all_of(runs_, &Run::is_full);
  }

  // A piece at a time, which stays in the second-level cache, on the coordinator itself: no thread is woken.
  Task<void> cut_alone(fixed::RunBuffer& run, std::uint64_t number) {
    const RecordTies ties = ties_of(run, number);
    const std::uint64_t piece = std::max<std::uint64_t>(piece_bytes() / encoder_.record_size(), 1);
    for (std::uint64_t first = 0; first < run.count; first += piece) {
      co_await bench_.reactor.turn();
      const std::uint64_t count = std::min(piece, run.count - first);
      tally_ += extract(run, first, count, run.entries());
      order_.distribute(run.entries(), count, ties, slices(), 1);
      for (std::size_t part = 0; part < files_.parts(); ++part) {
        std::size_t next = order_.begin(part);
        if (next == order_.end(part)) continue;
        while (!gather(part, slices(), next, ties.table)) co_await files_.make_room(part);
      }
    }
  }

  // By all threads.
  Task<void> cut_together(fixed::RunBuffer& run, std::uint64_t number) {
    const RecordTies ties = ties_of(run, number);
    auto order = bench_.compute.run([&] { job_.terms.is_sorted ? sort(run, ties) : distribute(run, ties); });
    co_await order;
    const Entry* const rows = job_.terms.is_sorted ? run.entries() : slices();
    std::vector<std::size_t> next(files_.parts()), rest;
    for (std::size_t part = 0; part < next.size(); ++part) {
      next[part] = order_.begin(part);
      if (next[part] < order_.end(part)) rest.push_back(part);
    }
    const auto fill = [&](std::size_t part) { return gather(part, rows, next[part], ties.table); };
    co_await fill_slices(bench_.compute, files_, std::move(rest), encoder_.record_size(), fill);
  }

  [[nodiscard]] RecordTies ties_of(const fixed::RunBuffer& run, std::uint64_t number) const {
    const std::uint64_t first = number * plan_.formation.run_records * encoder_.record_size();
    return {encoder_, job_.terms.splitters, run.table(encoder_.record_size()), job_.inputs.front().begin() + first};
  }

  [[nodiscard]] Entry* slices() const noexcept { return scratch_.as<Entry>().data(); }

  void sort(fixed::RunBuffer& run, const RecordTies& ties) {
    records::sort_entries_parallel(run.entries(), slices(), run.count, bench_.compute.threads());
    if (!encoder_.decides())
      records::refine_ties_parallel(run.entries(), slices(), run.count, encoder_, ties.table, bench_.compute.threads());
    order_.cut(run.entries(), run.count, ties);
  }

  [[nodiscard]] fixed::Tally extract(const fixed::RunBuffer& run, std::uint64_t first, std::uint64_t count, Entry* out) const {
    const std::byte* const records = run.records + first * encoder_.record_size();
    reader_.check_keys(run, first, count);
    return fixed::extract_records(encoder_, records, count, static_cast<std::uint32_t>(first), out, plan_.wanted.checksum);
  }

  void distribute(const fixed::RunBuffer& run, const RecordTies& ties) {
    const unsigned threads = bench_.compute.threads();
    std::vector<fixed::Tally> tallies(threads);
    sorting::for_each_part(threads, threads, [&](std::size_t i) {
      const std::size_t first = sorting::part_begin(run.count, threads, i), end = sorting::part_begin(run.count, threads, i + 1);
      tallies[i] = extract(run, first, end - first, run.entries() + first);
    });
    for (const fixed::Tally& tally : tallies) tally_ += tally;
    order_.distribute(run.entries(), run.count, ties, slices(), threads);
  }

  // Gathers what there is room for of a slice, from `next` on. It is put together and hashed in the first-level cache, and goes
  // past the others to where the drive takes it from.
  bool gather(std::size_t part, const Entry* rows, std::size_t& next, const records::RecordTable& table) {
    const std::uint64_t size = encoder_.record_size();
    const std::size_t end = order_.end(part), step = std::max<std::uint64_t>(step_bytes / size, 1);
    alignas(64) std::byte staged[step_bytes];
    while (next < end && files_.room(part) >= size) {
      const std::size_t count = std::min({end - next, step, std::size_t{files_.room(part) / size}});
      std::byte* const to = files_.end(part);
      std::byte* const at = size <= step_bytes ? staged : to;
      records::gather(rows + next, count, table, at, end - next - count);
      hashes_[part].add_records(at, count, static_cast<std::uint32_t>(size));
      if (at != to) stream_copy(to, at, count * size);
      take_extremes(part, rows + next, count, table);
      files_.add(part, count * size);
      next += count;
    }
    stream_fence();
    return next == end;
  }

  void take_extremes(std::size_t part, const Entry* rows, std::size_t count, const records::RecordTable& table) {
    if (!job_.terms.is_sorted) return extremes_[part].take(rows, count, encoder_, table);
    extremes_[part].take(rows, 1, encoder_, table);
    extremes_[part].take(rows + count - 1, 1, encoder_, table);
  }

  PartitionRecordsJob& job_;
  const planner::RecordPlan& plan_;
  Bench& bench_;
  Encoder encoder_;
  Classifier classifier_;
  fixed::ReadAhead reader_;
  SliceOrder order_;
  SliceFiles& files_;
  std::vector<Run> runs_;
  Buffer scratch_;
  std::vector<hash::MultisetHash> hashes_;  // of each part
  std::vector<Extremes> extremes_;          // likewise
  fixed::Tally tally_;                      // of what was extracted here
  std::uint64_t waits_ = 0;                 // of the files, when that was asked last
  Semaphore free_runs_;
  Signal arrived_;
};

}  // namespace

PartitionReport partition_records(PartitionRecordsJob& job, const Environment& environment) {
  return partition_with<RecordCutter>(job, environment);
}

}  // namespace ecosort::engine::partition
