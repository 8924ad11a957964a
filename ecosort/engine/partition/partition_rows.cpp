#include "engine/partition/partition_rows.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/errors.h"
#include "base/memory.h"
#include "engine/compute.h"
#include "engine/partition/classifier.h"
#include "engine/partition/fill_slices.h"
#include "engine/partition/slice_order.h"
#include "engine/rows/first_rows.h"
#include "engine/rows/read_lines.h"
#include "formats/lines/gather_lines.h"
#include "formats/lines/index_lines.h"

namespace ecosort::engine {
namespace {

using lines::GatherLines;
using lines::LineRun;
using records::Entry;
using rows::RowFormat;

std::vector<records::KeyWindow> windows_of(const RowFormat& format, const std::vector<Splitter>& splitters) {
  std::vector<records::KeyWindow> windows;
  windows.reserve(splitters.size());
  for (const Splitter& splitter : splitters) windows.push_back(format.window(splitter.row, 0, 0));
  return windows;
}

// Of rows with equal windows.
int compare_tied(const RowFormat& format, const Entry& entry, rows::Text a, rows::Text b) {
  unsigned level = 0;
  return lines::tie_is_decided(format, {entry.prefix, entry.extension}, level) ? 0 : format.compare(a, b, level);
}

// Of the classifier, for the rows of a run.
struct RowTies {
  const RowFormat& format;
  const std::vector<Splitter>& splitters;
  const LineRun& run;

  [[nodiscard]] int compare(const Entry& row, std::size_t splitter) const {
    return compare_tied(format, row, run.line(row), splitters[splitter].row);
  }
  [[nodiscard]] std::uint64_t offset(const Entry& row) const noexcept { return run.offset + row.index; }
};

// The smallest and the largest row of a part so far.
class Extremes {
 public:
  void take(const LineRun& run, const Entry* rows, std::size_t n, const RowFormat& format) {
    const auto order = [&](const Entry& a, const Entry& b) {
      if (a.prefix != b.prefix) return a.prefix < b.prefix ? -1 : 1;
      if (a.extension != b.extension) return a.extension < b.extension ? -1 : 1;
      return compare_tied(format, a, run.line(a), run.line(b));
    };
    const Entry *low = rows, *high = rows;
    for (const Entry* row = rows + 1; row < rows + n; ++row) {
      if (order(*row, *low) < 0) low = row;
      if (order(*row, *high) >= 0) high = row;
    }
    const rows::Text first = run.line(*low), last = run.line(*high);
    if (is_empty_ || format.compare(first, first_) < 0) first_ = first;
    if (is_empty_ || format.compare(last, last_) >= 0) last_ = last;
    is_empty_ = false;
  }
  [[nodiscard]] const std::string& first() const noexcept { return first_; }
  [[nodiscard]] const std::string& last() const noexcept { return last_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return first_.capacity() + last_.capacity(); }

 private:
  bool is_empty_ = true;
  std::string first_, last_;
};

// One partition. Members are declared in the order in which they may be used.
class Partitioner {
 public:
  Partitioner(PartitionRowsJob& job, io::Storage& storage, io::Queue& queue, Progress& progress, PhaseLog& log)
      : job_(job),
        plan_(job.plan.lines),
        storage_(storage),
        progress_(progress),
        log_(log),
        format_(*job.format),
        classifier_(job.terms.splitters, windows_of(format_, job.terms.splitters), job.terms.source),
        first_rows_(format_, 0, plan_.memory_bytes),
        memory_(plan_.memory_bytes),
        reactor_(queue, plan_.read_depth, plan_.write_depth),
        compute_(reactor_, plan_.threads),
        reader_(reactor_, compute_, plan_, format_, first_rows_, job.inputs, progress, seen_, storage),
        order_(classifier_, job.plan.most_rows, plan_.threads, memory_),
        files_(storage, reactor_, job.terms.paths,
               memory_.allocate(job.plan.slice_block_bytes * plan_.write_blocks, "write blocks"), job.plan.slice_block_bytes,
               plan_.write_blocks, progress),
        extremes_(classifier_.parts()),
        gathers_(classifier_.parts()),
        free_runs_(reactor_.scope(), plan_.run_buffers),
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
  [[nodiscard]] std::uint64_t range_bytes() const noexcept { return job_.inputs.front().end_offset() - job_.begin; }

  Task<void> partition() {
    files_.create();
    files_.begin_with(job_.top);
    runs_.resize(plan_.run_buffers);
    for (LineRun& run : runs_) run.memory = memory_.allocate(plan_.run_buffer_bytes, "run buffer", plan_.pages);
    is_full_.resize(runs_.size());
    const std::uint64_t moved = std::max<std::uint64_t>(2 * range_bytes(), 1);
    progress_.plan_job(1, moved);
    begin("partition", Phase::partition, moved, moved);
    if (range_bytes() > 0) {
      reader_.begin_at({.input = 0, .offset = job_.begin});
      work_.spawn(read_runs());
      work_.spawn(cut_runs());
    }
    co_await work_.settle();
    co_await files_.settle();
    reactor_.scope().throw_if_failed();
    log_.end(reactor_.traffic());
    take_in();
    check_slices(report_);
    begin("sync", Phase::sync, 0);
    co_await files_.finish();
    log_.end(reactor_.traffic());
    report_.notice = reader_.check_unchanged();
  }

  Task<void> read_runs() {
    for (std::size_t number = 0; !reader_.at_end(); number = (number + 1) % runs_.size()) {
      co_await free_runs_.take();
      co_await reader_.fill(runs_[number]);
      if (job_.terms.is_sorted && !reader_.at_end())
        throw NotEnoughMemory("the rows of the range do not fit the memory all at once, as --sort wants it", plan_.memory_bytes);
      is_full_[number] = 1;
      arrived_.notify();
    }
    all_read_ = true;
    arrived_.notify();
  }

  // In their order, which is that of the rows in each slice.
  Task<void> cut_runs() {
    for (std::size_t number = 0;; number = (number + 1) % runs_.size()) {
      while (is_full_[number] == 0 && !all_read_) co_await arrived_.changed();
      if (is_full_[number] == 0) co_return;
      co_await cut(runs_[number]);
      is_full_[number] = 0;
      free_runs_.give();
    }
  }

  Task<void> cut(LineRun& run) {
    using Checks = GatherLines::Checks;
    auto order = compute_.run([&] { job_.terms.is_sorted ? sort(run) : distribute(run); });
    co_await order;
    std::vector<std::size_t> rest;
    for (std::size_t part = 0; part < gathers_.size(); ++part) {
      if (order_.begin(part) == order_.end(part)) continue;
      gathers_[part].emplace(run, format_, job_.terms.is_sorted ? Checks::ordered : Checks::hashed, order_.begin(part),
                             order_.end(part));
      rest.push_back(part);
    }
    const auto fill = [&](std::size_t part) { return gather(part, run); };
    co_await fill_slices(compute_, files_, std::move(rest), 1, fill);
    check_extremes();
  }

  // The rows of a part are looked at with the first piece of them.
  bool gather(std::size_t part, const LineRun& run) {
    GatherLines& lines = *gathers_[part];
    const std::uint64_t before = lines.hash().count;
    if (before == 0)
      extremes_[part].take(run, run.entries() + order_.begin(part), order_.end(part) - order_.begin(part), format_);
    const auto [bytes, carried] = lines.fill(reinterpret_cast<char*>(files_.end(part)), files_.room(part));
    (void)carried;
    files_.add(part, bytes);
    if (!lines.finished()) return false;
    report_.slices[part].hash += lines.hash();
    gathers_[part].reset();
    return true;
  }

  // An index is made backwards.
  void distribute(LineRun& run) {
    Entry* const entries = run.entries();
    std::reverse(entries, entries + run.count);
    order_.distribute(entries, run.count, RowTies{format_, job_.terms.splitters, run}, run.scratch());
    std::copy_n(run.scratch(), run.count, entries);
  }

  void sort(LineRun& run) {
    lines::sort_index(run, format_, compute_.threads());
    order_.cut(run.entries(), run.count, RowTies{format_, job_.terms.splitters, run});
  }

  void check_extremes() {
    extreme_bytes_ = 0;
    for (const Extremes& extremes : extremes_) extreme_bytes_ += extremes.bytes();
    if (extreme_bytes_ > job_.plan.table_bytes)
      throw NotEnoughMemory("the first and the last rows of all slices are too long for the memory", plan_.memory_bytes);
  }

  void take_in() {
    report_.hash = reader_.hash();
    report_.hash -= reader_.dropped();
    report_.bytes = reader_.bytes();
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
    if (std::string told = files_.publish(); report_.notice.empty()) report_.notice = std::move(told);
    log_.end(reactor_.traffic());
    report_.traffic = reactor_.traffic();
    report_.peak_memory_bytes = memory_.peak_bytes() + extreme_bytes_;
    progress_.begin(Phase::done, 0);
    return std::move(report_);
  }

  void begin(const char* name, Phase phase, std::uint64_t bytes, std::uint64_t share_bytes = 0) {
    log_.begin(name, reactor_.traffic());
    progress_.begin(phase, bytes, share_bytes);
  }

  PartitionRowsJob& job_;
  const lines::LinePlan& plan_;
  io::Storage& storage_;
  Progress& progress_;
  PhaseLog& log_;
  RowFormat& format_;
  Classifier classifier_;
  lines::FirstRows first_rows_;
  MemoryBudget memory_;
  io::Reactor reactor_;
  Compute compute_;
  std::vector<lines::DuplicateFilter> seen_;  // none
  lines::ReadLines reader_;
  SliceOrder order_;
  SliceFiles files_;
  std::vector<LineRun> runs_;
  std::vector<char> is_full_;  // of each run
  bool all_read_ = false;
  std::vector<Extremes> extremes_;                   // of each part
  std::vector<std::optional<GatherLines>> gathers_;  // of the present run
  std::uint64_t extreme_bytes_ = 0;
  PartitionReport report_;
  Semaphore free_runs_;
  Signal arrived_;
  TaskGroup work_;
  TaskGroup main_;
};

}  // namespace

PartitionReport partition_rows(PartitionRowsJob& job, io::Storage& storage, io::Queue& queue, Progress& progress, PhaseLog& log,
                               const std::atomic<int>& interrupted) {
  auto partitioner = std::make_unique<Partitioner>(job, storage, queue, progress, log);
  try {
    return partitioner->run(interrupted);
  } catch (const io::QueueBroken&) {
    (void)partitioner.release();  // the system may still use its buffers: they live as long as the process
    throw;
  }
}

}  // namespace ecosort::engine
