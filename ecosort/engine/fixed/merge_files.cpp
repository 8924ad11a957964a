#include "engine/fixed/merge_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "base/errors.h"
#include "base/memory.h"
#include "engine/driver.h"
#include "engine/fixed/checked_output.h"
#include "engine/fixed/merge_batch.h"
#include "engine/fixed/reread.h"
#include "engine/fixed/sorted_file.h"

namespace ecosort::engine {
namespace {

// One merge of some of the files. Coordinator only; outlives its task.
class OneMerge {
 public:
  OneMerge(const FilesTools& tools, std::span<Input> inputs)
      : scope_(tools.bench.reactor.scope()),
        compute_(tools.bench.compute),
        encoder_(tools.encoder),
        blocks_(tools.bench.memory.allocate(inputs.size() * 2 * tools.plan.block_bytes, "blocks of the files")),
        arrived_(scope_),
        loads_(scope_) {
    std::byte* at = blocks_.data();
    for (Input& input : inputs) {
      files_.push_back(std::make_unique<SortedFile>(tools, input, at, arrived_));
      at += 2 * tools.plan.block_bytes;
      left_ += input.records;
    }
  }

  Task<void> merge_to(CheckedOutput& output) {
    TaskGroup merging(scope_);
    merging.spawn(merge_all(output));
    co_await merging.settle();
    co_await loads_.settle();
    co_await output.settle();
    scope_.throw_if_failed();
  }

  [[nodiscard]] const Tally& tally(std::size_t file) const { return files_[file]->tally(); }

 private:
  // What may be merged now.
  struct Round {
    std::vector<RunView> views;
    std::vector<RunRange> ranges;
    std::uint64_t records = 0;
    const SortedFile* ends = nullptr;  // whose next block is missing; null: none
  };

  Task<void> merge_all(CheckedOutput& output) {
    while (left_ > 0) {
      const Round round = co_await next_round(output.records_per_batch());
      const std::uint64_t count = std::min(round.records, output.records_per_batch());
      std::byte* const to = co_await output.take(output.records_put());
      BatchResult batch;
      auto work = compute_.run(
          [&] { batch = merge_batch(round.views, round.ranges, count, encoder_, {.data = to}, compute_.threads()); });
      co_await work;
      for (std::size_t i = 0; i < files_.size(); ++i) files_[i]->consume(batch.consumed[i]);
      left_ -= count;
      co_await output.put(to, count, batch.checked);
    }
    co_await output.finish();
  }

  // As much as fills a batch, unless a file ends the round whose next block has no room yet.
  Task<Round> next_round(std::uint64_t batch_records) {
    while (true) {
      for (const auto& file : files_) file->request(loads_);
      Round round = look();
      const bool is_enough =
          round.records >= std::min(batch_records, left_) || (round.ends != nullptr && !round.ends->is_loading());
      if (round.records > 0 && is_enough) co_return round;
      co_await arrived_.changed();
    }
  }

  Round look() const {
    Round round;
    for (const auto& file : files_) {
      const RunRange range = file->resident();
      if (range.begin == range.end && !file->is_all_here()) {
        round.ends = file.get();
        return round;
      }
      round.views.push_back(file->view());
      round.ranges.push_back(range);
    }
    limit(round);
    for (const RunRange& range : round.ranges) round.records += range.end - range.begin;
    return round;
  }

  // Up to the smallest of the last records of the files that continue; of equal ones, that of the first file.
  void limit(Round& round) const {
    std::optional<std::size_t> first;
    for (std::size_t i = 0; i < files_.size(); ++i)
      if (!files_[i]->is_all_here() && (!first || encoder_.compare(last_of(i), last_of(*first)) < 0)) first = i;
    if (!first) return;
    round.ends = files_[*first].get();
    const std::byte* const border = last_of(*first);
    for (std::size_t i = 0; i < files_.size(); ++i) round.ranges[i].end = end_before(i, border, i <= *first);
  }

  [[nodiscard]] const std::byte* last_of(std::size_t file) const {
    return files_[file]->record(files_[file]->resident().end - 1);
  }

  // The first record of what is in memory that comes behind the border; or does not come before it.
  [[nodiscard]] std::uint64_t end_before(std::size_t file, const std::byte* border, bool with_equal) const {
    auto [low, high] = files_[file]->resident();
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      const int order = encoder_.compare(files_[file]->record(middle), border);
      if (order < 0 || (order == 0 && with_equal))
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }

  CancelScope& scope_;
  Compute& compute_;
  const records::Encoder& encoder_;
  Buffer blocks_;
  Signal arrived_;
  std::vector<std::unique_ptr<SortedFile>> files_;
  TaskGroup loads_;
  std::uint64_t left_ = 0;  // records not merged yet
};

// Members are declared in the order in which they may be used.
class FilesKernel final : public Kernel {
 public:
  FilesKernel(MergeFilesJob& job, Bench& bench) : job_(job), bench_(bench), encoder_(job.format) {}

  static BenchSize size_of(const MergeFilesJob& job) {
    return {job.memory_bytes, job.threads, job.plan.read_depth, job.plan.write_depth};
  }

  [[nodiscard]] const char* items() const noexcept override { return "records"; }

  std::optional<Step> open(io::File& output) override {
    output_ = &output;
    for (Input& input : job_.inputs) sources_.push_back({std::move(input), std::nullopt});
    report.input_bytes = bytes_of(sources_);
    if (job_.packing.coders > 0)
      coders_.emplace(job_.packing, run::BlockShape{job_.most_block_bytes, job_.format.record_size}, bench_.memory);
    plan_job();
    return std::nullopt;
  }

  Task<void> form_runs() override { co_return; }

  std::string check_inputs() override {
    for (Source& source : sources_) close(source);
    for (const Input& input : done_) check_unchanged(bench_.storage, input);
    return "";
  }

  // Adjacent files become one, as few as need be; the next group begins behind it.
  std::optional<Step> next_group() override {
    if (sources_.size() <= job_.plan.fan_in) return std::nullopt;
    const auto [from, count] = planner::next_group(sources_.size(), job_.plan.fan_in, next_);
    next_ = from;
    const auto first = sources_.begin() + static_cast<std::ptrdiff_t>(from), last = first + static_cast<std::ptrdiff_t>(count);
    group_.assign(std::make_move_iterator(first), std::make_move_iterator(last));
    sources_.erase(first + 1, last);
    return Step{"intermediate_merge", bytes_of(group_), bytes_of(group_)};
  }

  Task<void> merge_group() override {
    Source merged;
    merged.input.file = bench_.storage.create_unnamed(job_.directory, io::Role::run, io::Caching::direct_if_possible);
    temp_bytes_ += bytes_of(group_);
    report.peak_temp_bytes = std::max(report.peak_temp_bytes, temp_bytes_);
    const Tally written = co_await merge_to(group_, *merged.input.file);
    merged.input.records = written.hash.count;
    merged.written = written.hash;
    for (Source& source : group_) close(source);
    sources_[next_++] = std::move(merged);
    ++report.merges;
  }

  std::optional<Step> last_merge() override { return Step{"merge", bytes_of(sources_), bytes_of(sources_)}; }

  Task<void> merge_to_output() override { written_ = co_await merge_to(sources_, *output_); }

  [[nodiscard]] Proof proof() const override { return {read_.hash, written_.hash + dropped_.hash}; }

  Task<void> complete_output() override { co_return; }  // what wrote the last batch did

  [[nodiscard]] std::uint64_t written_bytes() const override { return written_.hash.count * encoder_.record_size(); }

  Task<bool> reread() override {
    rereader_.emplace(bench_, encoder_, *output_, RecordRange{0, written_.hash.count}, job_.plan.block_bytes);
    co_await rereader_->run();
    co_return rereader_->tally().hash == written_.hash && rereader_->in_order();
  }

  WorkReport& sum_up() override {
    report.records = read_.hash.count;
    report.dropped = dropped_.hash.count;
    report.output_bytes = written_bytes();
    report.hash = read_.hash;
    return report;
  }

  WorkReport report;

 private:
  // A file of the user's, or one that was made here, with what was written to it.
  struct Source {
    Input input;
    std::optional<records::MultisetHash> written;
  };

  // Files of the user's are looked at once more at the end.
  void close(Source& source) {
    if (source.written) {
      temp_bytes_ -= source.input.records * encoder_.record_size();
      bench_.storage.close(std::move(source.input.file));
    } else {
      done_.push_back(std::move(source.input));
    }
  }

  Task<Tally> merge_to(std::vector<Source>& group, io::File& file) {
    const std::uint64_t bytes = bytes_of(group);
    std::vector<Input> inputs;
    inputs.reserve(group.size());
    for (Source& source : group) inputs.push_back(std::move(source.input));
    OneMerge merge({bench_, encoder_, job_.plan, coders_ ? &*coders_ : nullptr}, inputs);
    const planner::MergeBuffers& buffers = job_.plan.output;
    const std::uint64_t reserve = std::max<std::uint64_t>(round_up(bytes, page_bytes), page_bytes);
    WriteBehind writer(bench_, file, buffers, {.total_bytes = bytes, .reserve_bytes = reserve}, nullptr);
    CheckedOutput output(writer, bench_.compute, encoder_, job_.unique);
    co_await merge.merge_to(output);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      take_in(group[i], merge.tally(i), inputs[i]);
      group[i].input = std::move(inputs[i]);
    }
    dropped_ += output.merged().dropped;
    co_return output.merged().tally;
  }

  void take_in(const Source& source, const Tally& read, const Input& input) {
    if (input.run && read.hash != input.run->hash)
      throw DamagedRun(
          fmt::format("the run '{}' does not hold the records that its description says (check the drive)", input.file->path()));
    if (!source.written)
      read_ += read;
    else if (read.hash != *source.written)
      throw DamagedRun(fmt::format("what was read back in '{}' is not what was written there (check the drive and the memory)",
                                   input.file->path()));
  }

  void plan_job() {
    std::vector<std::uint64_t> sizes;
    sizes.reserve(sources_.size());
    for (const Source& source : sources_) sizes.push_back(source.input.records * encoder_.record_size());
    const planner::FilePasses passes = planner::passes_of(sizes, job_.plan.fan_in);
    const std::uint64_t reread = job_.reread && !output_->facts().is_stream ? bytes_of(sources_) : 0;
    bench_.progress.plan_job((passes.merges > 0 ? 2 : 1) + (reread > 0 ? 1 : 0),
                             passes.moved_bytes + bytes_of(sources_) + reread);
  }

  [[nodiscard]] std::uint64_t bytes_of(const std::vector<Source>& sources) const {
    std::uint64_t records = 0;
    for (const Source& source : sources) records += source.input.records;
    return records * encoder_.record_size();
  }

  MergeFilesJob& job_;
  Bench& bench_;
  records::Encoder encoder_;
  std::optional<run::RunPacker> coders_;  // of runs that are packed
  io::File* output_ = nullptr;
  std::vector<Source> sources_, group_;
  std::vector<Input> done_;
  std::size_t next_ = 0;  // where the next group begins
  Tally read_, written_, dropped_;
  std::uint64_t temp_bytes_ = 0;
  std::optional<Reread> rereader_;
};

}  // namespace

WorkReport merge_files(MergeFilesJob& job, const Environment& environment) { return drive<FilesKernel>(job, environment); }

}  // namespace ecosort::engine
