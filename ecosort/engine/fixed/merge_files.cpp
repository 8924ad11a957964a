#include "engine/fixed/merge_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "base/errors.h"
#include "base/memory.h"
#include "engine/compute.h"
#include "engine/fixed/checked_output.h"
#include "engine/fixed/merge_batch.h"
#include "engine/fixed/sorted_file.h"
#include "engine/open_output.h"

namespace ecosort::engine {
namespace {

// One merge of some of the files. Coordinator only; outlives its task.
class OneMerge {
 public:
  OneMerge(io::Reactor& reactor, Compute& compute, const records::Encoder& encoder, const planner::FilesPlan& plan,
           std::span<Input> inputs, MemoryBudget& memory)
      : scope_(reactor.scope()),
        compute_(compute),
        encoder_(encoder),
        blocks_(memory.allocate(inputs.size() * 2 * plan.block_bytes, "blocks of the files")),
        arrived_(reactor.scope()),
        loads_(reactor.scope()) {
    std::byte* at = blocks_.data();
    for (Input& input : inputs) {
      files_.push_back(std::make_unique<SortedFile>(reactor, compute, encoder, plan, input, at, arrived_));
      at += 2 * plan.block_bytes;
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

// All of it. Members are declared in the order in which they may be used.
class Merger {
 public:
  Merger(MergeFilesJob& job, io::Storage& storage, io::Queue& queue, Progress& progress, PhaseLog& log)
      : job_(job),
        storage_(storage),
        progress_(progress),
        log_(log),
        encoder_(job.format),
        memory_(job.memory_bytes),
        reactor_(queue, job.plan.read_depth, job.plan.write_depth),
        compute_(reactor_, job.threads),
        main_(reactor_.scope()) {
    reactor_.wait_with(storage_);
  }

  MergeFilesReport run(const std::atomic<int>& interrupted) {
    main_.spawn(merge());
    reactor_.run(main_, interrupted);
    return finish();
  }

 private:
  // A file of the user's, or one that was made here, with what was written to it.
  struct Source {
    Input input;
    std::optional<records::MultisetHash> written;
  };

  Task<void> merge() {
    for (Input& input : job_.inputs) sources_.push_back({std::move(input), std::nullopt});
    output_ = open_output(storage_, job_.output);
    plan_job();
    while (sources_.size() > job_.plan.fan_in) co_await merge_group();
    begin("merge", Phase::merge, bytes_of(sources_));
    const Tally written = co_await merge_to(sources_, *output_);
    log_.end(reactor_.traffic());
    check_inputs();
    verify(written);
    begin("sync", Phase::sync, 0);
    if (!output_->facts().is_stream) co_await reactor_.sync(*output_);
    log_.end(reactor_.traffic());
  }

  // Adjacent files become one, as few as need be; the next group begins behind it.
  Task<void> merge_group() {
    const auto [from, count] = planner::next_group(sources_.size(), job_.plan.fan_in, next_);
    const auto first = sources_.begin() + static_cast<std::ptrdiff_t>(from), last = first + static_cast<std::ptrdiff_t>(count);
    std::vector<Source> group(std::make_move_iterator(first), std::make_move_iterator(last));
    const std::uint64_t bytes = bytes_of(group);
    begin("intermediate_merge", Phase::intermediate_merge, bytes);
    Source merged;
    merged.input.file = storage_.create_unnamed(job_.directory, io::Role::run, io::Caching::direct_if_possible);
    temp_bytes_ += bytes;
    report_.peak_temp_bytes = std::max(report_.peak_temp_bytes, temp_bytes_);
    const Tally written = co_await merge_to(group, *merged.input.file);
    merged.input.records = written.hash.count;
    merged.written = written.hash;
    for (Source& source : group) close(source);
    sources_.erase(first + 1, last);
    sources_[from] = std::move(merged);
    next_ = from + 1;
    ++report_.merges;
    log_.end(reactor_.traffic());
  }

  // Files of the user's are looked at once more at the end.
  void close(Source& source) {
    if (source.written) {
      temp_bytes_ -= source.input.records * encoder_.record_size();
      storage_.close(std::move(source.input.file));
    } else {
      done_.push_back(std::move(source.input));
    }
  }

  Task<Tally> merge_to(std::vector<Source>& group, io::File& file) {
    const std::uint64_t bytes = bytes_of(group);
    std::vector<Input> inputs;
    inputs.reserve(group.size());
    for (Source& source : group) inputs.push_back(std::move(source.input));
    OneMerge merge(reactor_, compute_, encoder_, job_.plan, inputs, memory_);
    const planner::MergeBuffers& buffers = job_.plan.output;
    const std::uint64_t reserve = std::max<std::uint64_t>(round_up(bytes, page_bytes), page_bytes);
    WriteBehind writer(storage_, reactor_, nullptr, file, buffers, {.total_bytes = bytes, .reserve_bytes = reserve},
                       memory_.allocate(buffers.output_block_bytes * buffers.output_blocks, "output blocks"), progress_);
    CheckedOutput output(writer, compute_, encoder_, job_.unique);
    co_await merge.merge_to(output);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      take_in(group[i], merge.tally(i), inputs[i]);
      group[i].input = std::move(inputs[i]);
    }
    dropped_ += output.merged().dropped;
    co_return output.merged().tally;
  }

  void take_in(const Source& source, const Tally& read, const Input& input) {
    if (!source.written)
      read_ += read;
    else if (read.hash != *source.written)
      throw DamagedRun(fmt::format("what was read back in '{}' is not what was written there (check the drive and the memory)",
                                   input.file->path()));
  }

  void check_inputs() {
    for (Source& source : sources_) close(source);
    for (const Input& input : done_) check_unchanged(storage_, input);
  }

  // Promise P1.
  void verify(const Tally& written) const {
    Tally out = written;
    out += dropped_;
    if (out.hash == read_.hash) return;
    throw VerificationError(fmt::format(
        "verification failed: {} records with hash {} went in, {} with hash {} would come out; the output was not written",
        read_.hash.count, read_.hash.to_hex(), out.hash.count, out.hash.to_hex()));
  }

  MergeFilesReport finish() {
    begin("publish", Phase::sync, 0);
    report_.notice = publish_output(storage_, std::move(output_), job_.output);
    log_.end(reactor_.traffic());
    report_.records = read_.hash.count;
    report_.dropped = dropped_.hash.count;
    report_.hash = read_.hash;
    report_.traffic = reactor_.traffic();
    report_.peak_memory_bytes = memory_.peak_bytes();
    progress_.begin(Phase::done, 0);
    return report_;
  }

  void begin(const char* name, Phase phase, std::uint64_t bytes) {
    log_.begin(name, reactor_.traffic());
    progress_.begin(phase, bytes, bytes);
  }

  void plan_job() {
    std::vector<std::uint64_t> sizes;
    sizes.reserve(sources_.size());
    for (const Source& source : sources_) sizes.push_back(source.input.records * encoder_.record_size());
    const planner::FilePasses passes = planner::passes_of(sizes, job_.plan.fan_in);
    progress_.plan_job(passes.merges > 0 ? 2 : 1, passes.moved_bytes + bytes_of(sources_));
  }

  [[nodiscard]] std::uint64_t bytes_of(const std::vector<Source>& sources) const {
    std::uint64_t records = 0;
    for (const Source& source : sources) records += source.input.records;
    return records * encoder_.record_size();
  }

  MergeFilesJob& job_;
  io::Storage& storage_;
  Progress& progress_;
  PhaseLog& log_;
  records::Encoder encoder_;
  MemoryBudget memory_;
  io::Reactor reactor_;
  Compute compute_;
  MergeFilesReport report_;
  std::vector<Source> sources_;
  std::vector<Input> done_;
  std::size_t next_ = 0;  // where the next group begins
  io::FilePtr output_;
  Tally read_, dropped_;
  std::uint64_t temp_bytes_ = 0;
  TaskGroup main_;
};

}  // namespace

MergeFilesReport merge_files(MergeFilesJob& job, io::Storage& storage, io::Queue& queue, Progress& progress, PhaseLog& log,
                             const std::atomic<int>& interrupted) {
  auto merger = std::make_unique<Merger>(job, storage, queue, progress, log);
  try {
    return merger->run(interrupted);
  } catch (const io::QueueBroken&) {
    (void)merger.release();  // the system may still use its buffers: they live as long as the process
    throw;
  }
}

}  // namespace ecosort::engine
