#include "engine/fixed/merge_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "base/errors.h"
#include "base/memory.h"
#include "engine/driver.h"
#include "engine/fixed/append_records.h"
#include "engine/fixed/checked_output.h"
#include "engine/fixed/merge_batch.h"
#include "engine/fixed/reread.h"
#include "engine/fixed/run_sink.h"
#include "engine/fixed/sorted_file.h"
#include "engine/pace_meter.h"

namespace ecosort::engine::fixed {
namespace {

// A file of the user's; or one that was made here, with what was written to it.
struct Source {
  Input input;
  run::RunPacker* coders = nullptr;           // of a run that is packed
  std::optional<hash::MultisetHash> written;  // nothing: it is the user's
  std::optional<std::size_t> run;             // of the store that lent it
};

// One merge of some of the files. Coordinator only; outlives its task.
class OneMerge {
 public:
  OneMerge(const FilesTools& tools, std::span<Source> sources)
      : scope_(tools.bench.reactor.scope()),
        compute_(tools.bench.compute),
        encoder_(tools.encoder),
        blocks_(tools.bench.memory.allocate(sources.size() * 2 * tools.plan.block_bytes, "blocks of the files")),
        arrived_(scope_),
        loads_(scope_) {
    std::byte* at = blocks_.data();
    for (Source& source : sources) {
      files_.push_back(std::make_unique<SortedFile>(tools, source.input, source.coders, at, arrived_));
      at += 2 * tools.plan.block_bytes;
      left_ += source.input.records;
    }
    certain_ends_.resize(sources.size());
  }

  Task<void> merge_to(CheckedOutput& output) {
    TaskGroup merging(scope_);
    merging.spawn(merge_all(output));
    co_await merging.settle();
    co_await loads_.settle();
    co_await output.settle();
    scope_.throw_if_failed();
  }

  // `before_first`: is called before the first write block is complete.
  Task<void> merge_to(RunSink& sink, const std::function<void()>& before_first) {
    TaskGroup merging(scope_);
    merging.spawn(merge_all(sink, before_first));
    co_await merging.settle();
    co_await loads_.settle();
    co_await sink.settle();
    scope_.throw_if_failed();
    sink.finish();
  }

  [[nodiscard]] const Tally& tally(std::size_t file) const { return files_[file]->tally(); }
  // Returns the hash of all files, as far as they have arrived.
  [[nodiscard]] hash::MultisetHash read() const {
    hash::MultisetHash sum;
    for (const auto& file : files_) sum += file->tally().hash;
    return sum;
  }

 private:
  // Holds what may be merged now.
  struct Round {
    std::vector<RunView> views;
    std::vector<RunRange> ranges;
    std::uint64_t records = 0;
  };

  Task<void> merge_all(CheckedOutput& output) {
    while (left_ > 0) {
      const Round round = co_await next_round(output.records_per_batch());
      const std::uint64_t count = std::min(round.records, output.records_per_batch());
      std::byte* const to = co_await output.take(output.records_put());
      const BatchResult batch = co_await merge_next(round, count, {.data = to});
      co_await output.put(to, count, batch.checked);
    }
    co_await output.finish();
  }

  Task<void> merge_all(RunSink& sink, const std::function<void()>& before_first) {
    for (bool is_first = true; left_ > 0;) {
      const Round round = co_await next_round(sink.room());
      const std::uint64_t count = std::min(round.records, sink.room());
      const BatchTarget target = co_await sink.take();
      (void)co_await merge_next(round, count, target);
      if (is_first) before_first();
      is_first = false;
      sink.put(count, left_ == 0);
    }
  }

  Task<BatchResult> merge_next(const Round& round, std::uint64_t count, BatchTarget target) {
    BatchResult batch;
    auto work =
        compute_.run([&] { batch = merge_batch(round.views, round.ranges, count, encoder_, target, compute_.threads()); });
    co_await work;
    for (std::size_t i = 0; i < files_.size(); ++i) files_[i]->consume(batch.consumed[i]);
    certain_ -= count;
    left_ -= count;
    co_return batch;
  }

  // Returns as much as fills a batch, unless a file ends the round whose next block has no room yet.
  Task<Round> next_round(std::uint64_t batch_records) {
    const std::uint64_t wanted = std::min(batch_records, left_);
    while (true) {
      for (const auto& file : files_) file->request(loads_);
      const SortedFile* const next = certain_ < wanted ? find_certain() : nullptr;
      if (certain_ >= wanted || (certain_ > 0 && !next->is_loading())) co_return round();
      co_await arrived_.changed();
    }
  }

  [[nodiscard]] Round round() const {
    Round round;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      round.views.push_back(files_[i]->view());
      round.ranges.push_back({files_[i]->resident().begin, certain_ends_[i]});
    }
    round.records = certain_;
    return round;
  }

  // Up to the smallest of the last records of the files that continue; of equal ones, that of the first file. It is the one whose
  // next block is needed first; null: none is.
  const SortedFile* find_certain() {
    std::optional<std::size_t> first;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      const RunRange range = files_[i]->resident();
      if (files_[i]->is_all_here()) continue;
      if (range.begin == range.end) return files_[i].get();
      if (!first || compare_pair(last_of(i), last_of(*first), encoder_) < 0) first = i;
    }
    certain_ = 0;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      certain_ends_[i] = first ? end_before(i, last_of(*first), i <= *first) : files_[i]->resident().end;
      certain_ += certain_ends_[i] - files_[i]->resident().begin;
    }
    return first ? files_[*first].get() : nullptr;
  }

  [[nodiscard]] const std::byte* last_of(std::size_t file) const {
    return files_[file]->record(files_[file]->resident().end - 1);
  }

  // The first record of what is in memory that comes behind the border; or does not come before it.
  [[nodiscard]] std::uint64_t end_before(std::size_t file, const std::byte* border, bool with_equal) const {
    const auto is_before = [&](std::uint64_t number) {
      const int order = compare_pair(files_[file]->record(number), border, encoder_);
      return order < 0 || (order == 0 && with_equal);
    };
    auto [low, high] = files_[file]->resident();
    if (low == high || !is_before(low)) return low;
    if (is_before(high - 1)) return high;
    while (high - low > 1) {
      const std::uint64_t middle = low + (high - low) / 2;
      (is_before(middle) ? low : high) = middle;
    }
    return high;
  }

  CancelScope& scope_;
  Compute& compute_;
  const records::Encoder& encoder_;
  Buffer blocks_;
  Signal arrived_;
  std::vector<std::unique_ptr<SortedFile>> files_;
  TaskGroup loads_;
  std::uint64_t left_ = 0;                   // records not merged yet
  std::uint64_t certain_ = 0;                // of them, those that nothing that is not in memory can come before
  std::vector<std::uint64_t> certain_ends_;  // of these in each file
};

// Members are declared in the order in which they may be used.
class FilesKernel final : public Kernel {
 public:
  FilesKernel(MergeFilesJob& job, Bench& bench)
      : job_(job), bench_(bench), encoder_(job.format), hashes_inputs_(!job.expected || job.inputs.size() > job.plan.fan_in) {}

  static BenchSize size_of(const MergeFilesJob& job) {
    return {job.memory_bytes, job.threads, job.plan.read_depth, job.plan.write_depth};
  }

  [[nodiscard]] const char* items() const noexcept override { return "records"; }

  std::optional<Step> open(io::File& output) override {
    output_ = &output;
    if (job_.unpacking.coders > 0)
      unpacker_.emplace(job_.unpacking, run::BlockShape{job_.most_block_bytes, job_.format.record_size}, bench_.memory);
    if (job_.plan.packs()) begin_packing();
    for (Input& input : job_.inputs)
      sources_.push_back({.input = std::move(input), .coders = unpacker_ ? &*unpacker_ : nullptr, .written = {}, .run = {}});
    report.input_bytes = bytes_of(sources_);
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
    const auto [from, count] = planner::next_group(sources_.size(), {job_.plan.fan_in, job_.plan.most_between}, next_);
    next_ = from;
    const auto first = sources_.begin() + static_cast<std::ptrdiff_t>(from), last = first + static_cast<std::ptrdiff_t>(count);
    group_.assign(std::make_move_iterator(first), std::make_move_iterator(last));
    sources_.erase(first + 1, last);
    return Step{"intermediate_merge", bytes_of(group_), bytes_of(group_)};
  }

  Task<void> merge_group() override {
    Source merged;
    if (job_.plan.packs())
      merged = co_await merge_group_to_run();
    else
      merged = co_await merge_group_to_file();
    for (Source& source : group_) close(source);
    sources_[next_++] = std::move(merged);
    ++report.merges;
  }

  std::optional<Step> last_merge() override { return Step{"merge", bytes_of(sources_), bytes_of(sources_)}; }

  Task<void> merge_to_output() override {
    const MergedOutput merged = co_await merge_to(sources_, *output_, job_.groups, job_.head);
    written_ = merged.tally;
    if (job_.groups.policy.counts) report.counted = merged.records_of_groups;
    report.equal_pairs = merged.equal_pairs;
    if (const hash::MultisetHash all = written_.hash + dropped_.hash; job_.expected && all != *job_.expected)
      throw VerificationError(
          fmt::format("the records do not have the hash that was expected, but {}; the output was not written", all.to_hex()));
    if (!hashes_inputs_) read_.hash = *job_.expected;
  }

  std::optional<Step> rest() override {
    if (job_.rest.empty()) return std::nullopt;
    return Step{"append_rest", rest_bytes(), rest_bytes()};
  }

  Task<void> append_rest() override {
    AppendRecords append(bench_, encoder_.record_size(), job_.plan, *output_, written_bytes(), rest_bytes());
    co_await append.append(job_.rest);
    read_ += append.read();
    written_ += append.written();
    report.appended = append.written().hash.count;
    for (Input& input : job_.rest) done_.push_back(std::move(input));
  }

  [[nodiscard]] Proof proof() const override { return {read_.hash, written_.hash + dropped_.hash}; }

  Task<void> complete_output() override { co_return; }  // what wrote the last batch did

  [[nodiscard]] OutputContents contents() const override { return {written_.hash.count, written_bytes(), written_.hash}; }

  [[nodiscard]] std::uint64_t written_bytes() const override { return job_.head.size() + written_.hash.count * output_size(); }

  Task<bool> reread() override {
    rereader_.emplace(bench_, encoder_, *output_, RecordRange{0, written_.hash.count, job_.head.size()}, job_.plan.block_bytes);
    co_await rereader_->run();
    co_return rereader_->tally().hash == written_.hash && rereader_->in_order();
  }

  WorkReport& sum_up() override {
    report.records = read_.hash.count;
    report.dropped = dropped_.hash.count;
    report.output_bytes = written_bytes();
    report.hash = read_.hash;
    report.checksum = read_.checksum;
    if (store_) report.peak_temp_bytes = store_->peak_bytes();
    if (store_) report.peak_memory_bytes = store_->peak_index_bytes();
    if (packer_ && packer_->report().blocks > 0) report.run_packing = packer_->report();
    return report;
  }

  WorkReport report;

 private:
  // A merge of sorted files reads each block of a run in its turn and wants no forecast.
  void begin_packing() {
    planner::RecordPlan plan;
    plan.wanted.format = job_.format;
    plan.run_block = job_.plan.run_block;
    plan.forecast_stride = std::numeric_limits<std::uint32_t>::max();
    packer_.emplace(job_.plan.packing, run::BlockShape{plan.run_block.bytes, job_.format.record_size}, bench_.memory);
    store_.emplace(bench_.storage, bench_.reactor, plan, std::vector{job_.directory}, &*packer_);
    pace_.emplace(bench_, *packer_, true);
  }

  Task<Source> merge_group_to_file() {
    Source merged;
    const io::Caching caching = job_.plan.is_direct ? io::Caching::direct_if_possible : io::Caching::buffered;
    merged.input.file = bench_.storage.create_unnamed(job_.directory, io::Role::run, caching);
    temp_bytes_ += bytes_of(group_);
    report.peak_temp_bytes = std::max(report.peak_temp_bytes, temp_bytes_);
    const RecordGroups none;  // where the end of a group decides, only the last merge sees it
    const bool is_decided = job_.groups.policy.is_decided_at_once();
    const MergedOutput written = co_await merge_to(group_, *merged.input.file, is_decided ? job_.groups : none);
    merged.input.records = written.tally.hash.count;
    merged.written = written.tally.hash;
    co_return merged;
  }

  // Records that are not to stay stay until the last merge. The order of what is written, and that it is what was read, is
  // looked at when it is read again.
  Task<Source> merge_group_to_run() {
    const std::uint64_t records = bytes_of(group_) / encoder_.record_size();
    const std::size_t number = store_->create(records);
    OneMerge merge(tools(), group_);
    RunSink sink({bench_, encoder_, *store_}, job_.plan.output, number);
    const std::function<void()> tell_pace = [&] {
      pace_->tell((read_again_.count + merge.read().count) * encoder_.record_size());
    };
    co_await merge.merge_to(sink, tell_pace);
    read_again_ += merge.read();
    for (std::size_t i = 0; i < group_.size(); ++i) take_in(group_[i], merge.tally(i));
    run::LentRun lent = store_->lend(number);
    lent.description.record_size = encoder_.record_size();
    lent.description.bytes = records * encoder_.record_size();
    lent.description.hash = merge.read();
    Source merged{.input = {}, .coders = &*packer_, .written = merge.read(), .run = number};
    merged.input.file = std::move(lent.file);
    merged.input.records = records;
    merged.input.run = std::move(lent.description);
    co_return merged;
  }

  // Files of the user's are looked at once more at the end.
  void close(Source& source) {
    if (source.run) {
      store_->take_back(*source.run, {std::move(source.input.file), std::move(*source.input.run)});
      store_->close(*source.run);
    } else if (source.written) {
      temp_bytes_ -= source.input.records * encoder_.record_size();
      bench_.storage.close(std::move(source.input.file));
    } else {
      done_.push_back(std::move(source.input));
    }
  }

  Task<MergedOutput> merge_to(std::vector<Source>& group, io::File& file, const RecordGroups& groups,
                              std::span<const std::byte> head = {}) {
    const std::uint64_t bytes =
        head.size() + bytes_of(group) / encoder_.record_size() * groups.output_bytes(encoder_.record_size());
    OneMerge merge(tools(), group);
    const planner::MergeBuffers& buffers = job_.plan.output;
    const std::uint64_t reserve = std::max<std::uint64_t>(round_up(bytes, page_bytes), page_bytes);
    WriteBehind writer(bench_, file, buffers, {.total_bytes = bytes, .reserve_bytes = reserve}, nullptr);
    CheckedOutput output(writer, bench_.compute, encoder_, groups);
    co_await output.put_head(head);
    co_await merge.merge_to(output);
    for (std::size_t i = 0; i < group.size(); ++i) take_in(group[i], merge.tally(i));
    dropped_ += output.merged().dropped;
    co_return output.merged();
  }

  [[nodiscard]] std::uint32_t output_size() const noexcept { return job_.groups.output_bytes(encoder_.record_size()); }

  [[nodiscard]] FilesTools tools() const noexcept { return {bench_, encoder_, job_.plan, job_.checksum, hashes_inputs_}; }

  void take_in(const Source& source, const Tally& read) {
    const Input& input = source.input;
    if (input.run && !source.run && read.hash != input.run->hash)
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
    const planner::FilePasses passes = planner::passes_of(sizes, {job_.plan.fan_in, job_.plan.most_between});
    const std::uint64_t reread = job_.reread && !output_->facts().is_stream ? bytes_of(sources_) : 0;
    bench_.progress.plan_job((passes.merges > 0 ? 2 : 1) + (reread > 0 ? 1 : 0),
                             passes.moved_bytes + bytes_of(sources_) + rest_bytes() + reread);
  }

  [[nodiscard]] std::uint64_t rest_bytes() const {
    std::uint64_t records = 0;
    for (const Input& input : job_.rest) records += input.records;
    return records * encoder_.record_size();
  }

  [[nodiscard]] std::uint64_t bytes_of(const std::vector<Source>& sources) const {
    std::uint64_t records = 0;
    for (const Source& source : sources) records += source.input.records;
    return records * encoder_.record_size();
  }

  MergeFilesJob& job_;
  Bench& bench_;
  records::Encoder encoder_;
  bool hashes_inputs_;                               // files between passes are compared with what was written there
  std::optional<run::RunPacker> unpacker_, packer_;  // of inputs that are packed runs; of what lies between passes
  std::optional<run::RecordRuns> store_;             // of that, where it is compressed
  std::optional<PaceMeter> pace_;
  hash::MultisetHash read_again_;  // by all merges into runs
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

}  // namespace ecosort::engine::fixed
