#include "engine/partition/partition_records.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "base/memory.h"
#include "engine/compute.h"
#include "engine/partition/classifier.h"
#include "engine/partition/fill_slices.h"
#include "engine/partition/slice_order.h"
#include "formats/fixed/encoder.h"
#include "formats/fixed/gather.h"
#include "formats/fixed/index_sort.h"

namespace ecosort::engine {
namespace {

using records::Encoder;
using records::Entry;

const std::byte* bytes_of(const std::string& row) { return reinterpret_cast<const std::byte*>(row.data()); }

std::vector<records::KeyWindow> windows_of(const Encoder& encoder, const std::vector<Splitter>& splitters) {
  std::vector<records::KeyWindow> windows;
  windows.reserve(splitters.size());
  for (const Splitter& splitter : splitters) windows.push_back(encoder.first_window(bytes_of(splitter.row)));
  return windows;
}

// Of the classifier, for the records of a run.
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

// The smallest and the largest record of a part so far.
class Extremes {
 public:
  void take(const Entry* rows, std::size_t n, const Encoder& encoder, const records::RecordTable& table) {
    if (n == 0) return;
    const auto order = [&](const Entry& a, const Entry& b) {
      if (a.prefix != b.prefix) return a.prefix < b.prefix ? -1 : 1;
      if (encoder.prefix_decides()) return 0;
      if (a.extension != b.extension) return a.extension < b.extension ? -1 : 1;
      return encoder.decides() ? 0 : encoder.compare(table.at(a.index), table.at(b.index));
    };
    const Entry *low = rows, *high = rows;
    for (const Entry* row = rows + 1; row < rows + n; ++row) {
      if (order(*row, *low) < 0) low = row;
      if (order(*row, *high) >= 0) high = row;
    }
    keep_first(table.at(low->index), encoder);
    keep_last(table.at(high->index), encoder);
  }
  [[nodiscard]] const std::string& first() const noexcept { return first_; }
  [[nodiscard]] const std::string& last() const noexcept { return last_; }

 private:
  void keep_first(const std::byte* row, const Encoder& encoder) {
    if (first_.empty() || encoder.compare(row, bytes_of(first_)) < 0)
      first_.assign(reinterpret_cast<const char*>(row), encoder.record_size());
  }
  void keep_last(const std::byte* row, const Encoder& encoder) {
    if (last_.empty() || encoder.compare(row, bytes_of(last_)) >= 0)
      last_.assign(reinterpret_cast<const char*>(row), encoder.record_size());
  }

  std::string first_, last_;
};

// One partition. Members are declared in the order in which they may be used.
class Partitioner {
 public:
  Partitioner(PartitionRecordsJob& job, io::Storage& storage, io::Queue& queue, Progress& progress, PhaseLog& log)
      : job_(job),
        plan_(job.plan.plan),
        storage_(storage),
        progress_(progress),
        log_(log),
        encoder_(plan_.wanted.format),
        classifier_(job.terms.splitters, windows_of(encoder_, job.terms.splitters), job.terms.source),
        memory_(plan_.wanted.memory_bytes),
        reactor_(queue, plan_.read_depth, plan_.write_depth),
        compute_(reactor_, plan_.wanted.threads),
        reader_(reactor_, compute_, plan_, encoder_, job.inputs, memory_),
        order_(classifier_, plan_.formation.run_records, plan_.wanted.threads, memory_),
        files_(storage, reactor_, job.terms.paths,
               memory_.allocate(plan_.formation.write_block_bytes * plan_.formation.write_blocks, "write blocks"),
               plan_.formation.write_block_bytes, plan_.formation.write_blocks, progress),
        extremes_(classifier_.parts()),
        free_runs_(reactor_.scope(), plan_.formation.run_buffers),
        arrived_(reactor_.scope()),
        work_(reactor_.scope()),
        main_(reactor_.scope()) {
    reactor_.wait_with(storage_);
    report_.slices.resize(classifier_.parts());
  }

  PartitionReport run(const std::atomic<int>& interrupted) {
    main_.spawn(partition());
    reactor_.run(main_, interrupted);
    return finish();
  }

 private:
  struct Run {
    RunBuffer buffer;
    bool is_full = false;
  };

  Task<void> partition() {
    files_.create();
    allocate_runs();
    const std::uint64_t bytes = plan_.wanted.input_records * encoder_.record_size();
    progress_.plan_job(1, std::max<std::uint64_t>(bytes, 1));
    begin("partition", Phase::partition, bytes, std::max<std::uint64_t>(bytes, 1));
    work_.spawn(read_runs());
    work_.spawn(cut_runs());
    co_await work_.settle();
    co_await files_.settle();
    reactor_.scope().throw_if_failed();
    log_.end(reactor_.traffic());
    take_in();
    check_slices(report_);
    begin("sync", Phase::sync, 0);
    co_await files_.finish();
    log_.end(reactor_.traffic());
    check_unchanged(storage_, job_.inputs.front());
  }

  void allocate_runs() {
    const planner::Formation& formation = plan_.formation;
    runs_.resize(formation.run_buffers);
    for (Run& run : runs_) {
      run.buffer.bytes = memory_.allocate(formation.run_buffer_bytes, "a run buffer");
      run.buffer.index = memory_.allocate(formation.index_bytes, "the index of a run");
    }
    scratch_ = memory_.allocate(formation.scratch_bytes, "the index of slices");
  }

  Task<void> read_runs() {
    for (std::uint64_t number = 0; number < job_.plan.runs; ++number) {
      co_await free_runs_.take();
      work_.spawn(read_run(number));
    }
  }

  Task<void> read_run(std::uint64_t number) {
    Run& run = runs_[number % runs_.size()];
    const std::uint64_t first = number * plan_.formation.run_records;
    co_await reader_.fill(run.buffer, first, std::min(plan_.formation.run_records, plan_.wanted.input_records - first));
    run.is_full = true;
    arrived_.notify();
  }

  // In their order, which is that of the rows in each slice.
  Task<void> cut_runs() {
    for (std::uint64_t number = 0; number < job_.plan.runs; ++number) {
      Run& run = runs_[number % runs_.size()];
      while (!run.is_full) co_await arrived_.changed();
      co_await cut(run.buffer, number);
      run.is_full = false;
      free_runs_.give();
    }
  }

  Task<void> cut(RunBuffer& run, std::uint64_t number) {
    const std::uint64_t first = job_.inputs.front().begin() + number * plan_.formation.run_records * encoder_.record_size();
    const RecordTies ties{encoder_, job_.terms.splitters, run.table(encoder_.record_size()), first};
    auto order = compute_.run(
        [&] { job_.terms.is_sorted ? sort(run, ties) : order_.distribute(run.entries(), run.count, ties, slices()); });
    co_await order;
    const Entry* const rows = job_.terms.is_sorted ? run.entries() : slices();
    std::vector<std::size_t> next(files_.parts()), rest;
    for (std::size_t part = 0; part < next.size(); ++part) {
      next[part] = order_.begin(part);
      if (next[part] < order_.end(part)) rest.push_back(part);
    }
    const auto fill = [&](std::size_t part) { return gather(part, rows, next[part], ties.table); };
    co_await fill_slices(compute_, files_, std::move(rest), encoder_.record_size(), fill);
  }

  [[nodiscard]] Entry* slices() const noexcept { return scratch_.as<Entry>().data(); }

  void sort(RunBuffer& run, const RecordTies& ties) {
    records::sort_entries_parallel(run.entries(), slices(), run.count, compute_.threads());
    if (!encoder_.decides())
      records::refine_ties_parallel(run.entries(), slices(), run.count, encoder_, ties.table, compute_.threads());
    order_.cut(run.entries(), run.count, ties);
  }

  // What there is room for of a slice, from `next` on; in steps that stay in the cache.
  bool gather(std::size_t part, const Entry* rows, std::size_t& next, const records::RecordTable& table) {
    constexpr std::uint64_t step_bytes = std::uint64_t{32} * 1024;
    const std::uint64_t size = encoder_.record_size();
    const std::size_t end = order_.end(part), step = std::max<std::uint64_t>(step_bytes / size, 1);
    while (next < end && files_.room(part) >= size) {
      const std::size_t count = std::min({end - next, step, std::size_t{files_.room(part) / size}});
      std::byte* const to = files_.end(part);
      records::gather(rows + next, count, table, to, end - next - count);
      report_.slices[part].hash.add_records(to, count, static_cast<std::uint32_t>(size));
      extremes_[part].take(rows + next, count, encoder_, table);
      files_.add(part, count * size);
      next += count;
    }
    return next == end;
  }

  void take_in() {
    report_.hash = reader_.tally().hash;
    report_.bytes = report_.hash.count * encoder_.record_size();
    for (std::size_t part = 0; part < report_.slices.size(); ++part) {
      Slice& slice = report_.slices[part];
      slice.path = job_.terms.paths[part];
      slice.bytes = files_.bytes(part);
      slice.first = extremes_[part].first();
      slice.last = extremes_[part].last();
    }
  }

  PartitionReport finish() {
    begin("publish", Phase::sync, 0);
    report_.notice = files_.publish();
    log_.end(reactor_.traffic());
    report_.traffic = reactor_.traffic();
    report_.peak_memory_bytes = memory_.peak_bytes();
    progress_.begin(Phase::done, 0);
    return std::move(report_);
  }

  void begin(const char* name, Phase phase, std::uint64_t bytes, std::uint64_t share_bytes = 0) {
    log_.begin(name, reactor_.traffic());
    progress_.begin(phase, bytes, share_bytes);
  }

  PartitionRecordsJob& job_;
  const planner::Plan& plan_;
  io::Storage& storage_;
  Progress& progress_;
  PhaseLog& log_;
  Encoder encoder_;
  Classifier classifier_;
  MemoryBudget memory_;
  io::Reactor reactor_;
  Compute compute_;
  ReadAhead reader_;
  SliceOrder order_;
  SliceFiles files_;
  std::vector<Run> runs_;
  Buffer scratch_;
  std::vector<Extremes> extremes_;  // of each part
  PartitionReport report_;
  Semaphore free_runs_;
  Signal arrived_;
  TaskGroup work_;
  TaskGroup main_;
};

}  // namespace

PartitionReport partition_records(PartitionRecordsJob& job, io::Storage& storage, io::Queue& queue, Progress& progress,
                                  PhaseLog& log, const std::atomic<int>& interrupted) {
  auto partitioner = std::make_unique<Partitioner>(job, storage, queue, progress, log);
  try {
    return partitioner->run(interrupted);
  } catch (const io::QueueBroken&) {
    (void)partitioner.release();  // the system may still use its buffers: they live as long as the process
    throw;
  }
}

}  // namespace ecosort::engine
