#include "engine/partition/partition_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/errors.h"
#include "base/memory.h"
#include "base/open_files.h"
#include "engine/partition/classifier.h"
#include "engine/partition/fill_slices.h"
#include "engine/partition/slice_order.h"
#include "engine/rows/first_rows.h"
#include "engine/rows/read_lines.h"
#include "formats/lines/gather_lines.h"
#include "formats/lines/index_lines.h"

namespace ecosort::engine::partition {
namespace {

using formats::RowFormat;
using lines::GatherLines;
using lines::LineRun;
using sorting::Entry;

std::vector<records::KeyWindow> windows_of(const RowFormat& format, const std::vector<Splitter>& splitters) {
  std::vector<records::KeyWindow> windows;
  windows.reserve(splitters.size());
  for (const Splitter& splitter : splitters) windows.push_back(format.window(splitter.row, 0, 0));
  return windows;
}

// Compares rows with equal windows.
int compare_tied(const RowFormat& format, const Entry& entry, Text a, Text b) {
  unsigned level = 0;
  return lines::tie_is_decided(format, {entry.prefix, entry.extension}, level) ? 0 : format.compare(a, b, level);
}

// Decides ties of the classifier for the rows of a run.
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
    const Text first = run.line(*low), last = run.line(*high);
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

// Members are declared in the order in which they may be used.
class RowCutter final : public Cutter {
 public:
  static BenchSize size_of(const PartitionRowsJob& job) {
    const planner::LinePlan& plan = job.plan.lines;
    return {plan.memory_bytes, plan.threads, plan.read_depth, plan.write_depth};
  }
  static SliceBlocks blocks_of(const PartitionRowsJob& job) { return {job.plan.slice_block_bytes, job.plan.lines.write_blocks}; }

  RowCutter(PartitionRowsJob& job, Bench& bench, SliceFiles& files)
      : job_(job),
        plan_(job.plan.lines),
        bench_(bench),
        format_(*job.format),
        classifier_(job.terms.splitters, windows_of(format_, job.terms.splitters), job.terms.source),
        first_rows_(format_, 0, plan_.memory_bytes),
        reader_({bench, plan_, format_}, first_rows_, job.inputs, seen_),
        order_(classifier_, job.plan.most_rows, plan_.threads, bench.memory),
        files_(files),
        hashes_(classifier_.parts()),
        extremes_(classifier_.parts()),
        gathers_(classifier_.parts()),
        free_runs_(bench.reactor.scope(), plan_.run_buffers),
        arrived_(bench.reactor.scope()) {}

  // Read, and written.
  [[nodiscard]] std::uint64_t bytes() const noexcept override { return 2 * range_bytes(); }

  void begin(TaskGroup& work) override {
    files_.begin_with(job_.top);
    runs_.resize(plan_.run_buffers);
    for (LineRun& run : runs_) run.memory = bench_.memory.allocate(plan_.run_buffer_bytes, "run buffer", plan_.pages);
    is_full_.resize(runs_.size());
    if (range_bytes() == 0) return;
    const bool is_counted = job_.begin <= job_.top.size();  // the range begins with the first row
    const auto lines = static_cast<std::uint64_t>(std::ranges::count(job_.top, '\n'));
    reader_.begin_at({.input = 0,
                      .offset = job_.begin,
                      .lines = !is_counted       ? rows::ReadPlace::uncounted
                               : job_.begin == 0 ? 0
                                                 : lines,
                      .before_end = job_.before_end});
    if (format_.wants_first_row()) (void)format_.take_first_row(formats::shown_name(job_.inputs.front().name), job_.first_row);
    work.spawn(read_runs());
    work.spawn(cut_runs());
  }

  [[nodiscard]] std::string check_input() override { return reader_.check_unchanged(); }

  void sum_up(PartitionReport& report) override {
    report.hash = reader_.hash();
    report.hash -= reader_.dropped();
    report.bytes = reader_.bytes();
    report.top_bytes = job_.top.size();
    report.peak_memory_bytes = extreme_bytes_;
    for (std::size_t part = 0; part < report.slices.size(); ++part) {
      Slice& slice = report.slices[part];
      slice.hash = hashes_[part];
      slice.first = extremes_[part].first();
      slice.last = extremes_[part].last();
    }
  }

 private:
  [[nodiscard]] std::uint64_t range_bytes() const noexcept { return job_.inputs.front().end_offset() - job_.begin; }

  Task<void> read_runs() {
    for (std::size_t number = 0; !reader_.at_end(); number = (number + 1) % runs_.size()) {
      co_await free_runs_.take();
      co_await reader_.fill(runs_[number]);
      is_full_[number] = 1;
      arrived_.notify();
    }
    all_read_ = true;
    arrived_.notify();
  }

  // In their order, which is that of the rows in each slice.
  Task<void> cut_runs() {
    std::size_t runs = 0;
    for (std::size_t number = 0;; number = (number + 1) % runs_.size()) {
      while (is_full_[number] == 0 && !all_read_) co_await arrived_.changed();
      if (is_full_[number] == 0) co_return;
      if (job_.terms.is_sorted && runs++ > 0) co_await begin_next_files(runs);
      co_await cut(runs_[number]);
      is_full_[number] = 0;
      free_runs_.give();
    }
  }

  Task<void> begin_next_files(std::size_t runs) {
    demand_open_files(fmt::format("{} sorted runs of {} parts", runs, files_.parts()), runs * files_.parts(), fewer_runs_advice);
    co_await files_.begin_next();
  }

  Task<void> cut(LineRun& run) {
    using Checks = GatherLines::Checks;
    auto order = bench_.compute.run([&] { job_.terms.is_sorted ? sort(run) : distribute(run); });
    co_await order;
    std::vector<std::size_t> rest;
    for (std::size_t part = 0; part < gathers_.size(); ++part) {
      if (order_.begin(part) == order_.end(part)) continue;
      gathers_[part].emplace(run, format_, job_.terms.is_sorted ? Checks::ordered : Checks::hashed, order_.begin(part),
                             order_.end(part));
      rest.push_back(part);
    }
    const auto fill = [&](std::size_t part) { return gather(part, run); };
    co_await fill_slices(bench_.compute, files_, std::move(rest), 1, fill);
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
    hashes_[part] += lines.hash();
    gathers_[part].reset();
    return true;
  }

  // An index is made backwards.
  void distribute(LineRun& run) {
    Entry* const entries = run.entries();
    std::reverse(entries, entries + run.count);
    order_.distribute(entries, run.count, RowTies{format_, job_.terms.splitters, run}, run.scratch(), bench_.compute.threads());
    std::copy_n(run.scratch(), run.count, entries);
  }

  void sort(LineRun& run) {
    lines::sort_index(run, format_, bench_.compute.threads());
    order_.cut(run.entries(), run.count, RowTies{format_, job_.terms.splitters, run});
  }

  void check_extremes() {
    extreme_bytes_ = 0;
    for (const Extremes& extremes : extremes_) extreme_bytes_ += extremes.bytes();
    if (extreme_bytes_ > job_.plan.table_bytes)
      throw NotEnoughMemory("the first and the last rows of all slices are too long for the memory", plan_.memory_bytes);
  }

  PartitionRowsJob& job_;
  const planner::LinePlan& plan_;
  Bench& bench_;
  RowFormat& format_;
  Classifier classifier_;
  rows::FirstRows first_rows_;
  std::vector<lines::DuplicateFilter> seen_;  // none
  rows::ReadLines reader_;
  SliceOrder order_;
  SliceFiles& files_;
  std::vector<LineRun> runs_;
  std::vector<char> is_full_;  // of each run
  bool all_read_ = false;
  std::vector<hash::MultisetHash> hashes_;           // of each part
  std::vector<Extremes> extremes_;                   // likewise
  std::vector<std::optional<GatherLines>> gathers_;  // of the present run
  std::uint64_t extreme_bytes_ = 0;
  Semaphore free_runs_;
  Signal arrived_;
};

}  // namespace

PartitionReport partition_rows(PartitionRowsJob& job, const Environment& environment) {
  return partition_with<RowCutter>(job, environment);
}

}  // namespace ecosort::engine::partition
