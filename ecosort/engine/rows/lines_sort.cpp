#include "engine/rows/lines_sort.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/errors.h"
#include "engine/compute.h"
#include "engine/open_output.h"
#include "engine/rows/damaged_input.h"
#include "engine/rows/form_line_runs.h"
#include "engine/rows/line_blocks.h"
#include "engine/rows/merge_groups.h"
#include "engine/rows/merge_lines.h"
#include "engine/rows/merge_parts.h"
#include "engine/rows/reread_lines.h"
#include "formats/lines/gather_lines.h"
#include "plan/files_plan.h"

namespace ecosort::lines {
namespace {

using engine::Phase;

// One sort. Members are declared in the order in which they may be used.
class Sorter {
 public:
  Sorter(LinesJob& job, io::Storage& storage, io::Queue& queue, engine::Progress& progress, engine::PhaseLog& log)
      : job_(job),
        storage_(storage),
        progress_(progress),
        log_(log),
        format_(*job.format),
        first_rows_(format_, job.header_bytes, job.plan.memory_bytes),
        memory_(job.plan.memory_bytes),
        codec_memory_(job.codecs.bytes()),
        allowance_(decoder_allowance(job)),
        reactor_(queue, job.plan.read_depth, job.plan.write_depth),
        compute_(reactor_, job.plan.threads),
        main_(reactor_.scope()) {
    reactor_.wait_with(storage_);
  }

  LinesReport run(const std::atomic<int>& interrupted) {
    main_.spawn(sort());
    try {
      reactor_.run(main_, interrupted);
    } catch (...) {
      if (files_) files_->terminate_programs();
      throw;
    }
    return finish();
  }

 private:
  Task<void> sort() {
    output_ = engine::open_output(storage_, job_.output);
    reserve_output();
    files_.emplace(storage_, reactor_, job_.directories, job_.plan.block_bytes, job_.compress_program);
    pool_.emplace(reactor_.scope(), memory_.allocate(job_.plan.write_bytes(), "write blocks", job_.plan.pages),
                  job_.plan.block_bytes, job_.plan.write_blocks);
    open_sink();
    reader_.emplace(reactor_, compute_, job_.plan, format_, first_rows_, job_.inputs, progress_, seen_, storage_);
    reader_->set_look(job_.look);
    if (job_.codecs.input_bytes > 0) reader_->set_decoding(decoding());
    if (job_.merge) {
      take_sorted_inputs();
    } else {
      co_await form_runs();
      report_.notices.push_back(reader_->check_unchanged());
    }
    if (former_ && former_->resident() != nullptr) {
      progress_.plan_job(2, 2 * reader_->bytes(), reader_->bytes());
      co_await write_resident();
    } else {
      plan_merges();
      co_await merge_intermediate();
      co_await merge_to_output();
    }
    verify();
    if (packed_) co_await packed_->finish();
    co_await end_output();
    if (job_.reread) co_await reread_output();
  }

  // Space that the output will take, so that a full drive shows before the work and nobody else can fill it meanwhile.
  void reserve_output() {
    if (job_.reserved_bytes > 0 && !output_->facts().is_stream)
      is_reserved_ = storage_.reserve_patiently(*output_, 0, job_.reserved_bytes);
  }

  void open_sink() {
    const std::size_t block_bytes = job_.plan.block_bytes;
    if (job_.codecs.packing)
      packed_.emplace(reactor_, *pool_, block_bytes, progress_, *output_, compute_, codec_memory_, *job_.codecs.packing);
    else
      sink_.emplace(reactor_, *pool_, block_bytes, progress_, *output_);
  }

  [[nodiscard]] LineSink& output_sink() { return packed_ ? static_cast<LineSink&>(*packed_) : *sink_; }

  // What the chunks of the inputs that are decoded at a time leave.
  static std::uint64_t decoder_allowance(const LinesJob& job) {
    std::uint64_t at_a_time = 0;
    for (const LineInput& input : job.inputs) at_a_time += input.is_decoded() ? 1 : 0;
    if (!job.merge) at_a_time = 1;
    const std::uint64_t chunks = at_a_time * decode_chunks_bytes(job.codecs.chunk_bytes);
    return job.codecs.input_bytes - std::min(job.codecs.input_bytes, chunks);
  }

  [[nodiscard]] DecodeTools decoding() { return {reactor_, compute_, codec_memory_, allowance_, job_.codecs.chunk_bytes}; }

  void take_sorted_inputs() {
    for (LineInput& input : job_.inputs) {
      MergeInput plain;
      plain.name = input.name;
      plain.is_plain = true;
      plain.look = &job_.look;
      plain.first_rows = &first_rows_;
      if (input.is_decoded())
        plain.decoded = decoded_inputs_.emplace_back(std::make_unique<DecodedInput>(decoding(), input)).get();
      else
        plain.file = std::move(input.file);
      runs_.push_back(std::move(plain));
    }
  }

  Task<void> form_runs() {
    plan_job();
    begin("run_formation", Phase::run_formation, formation_bytes(), std::max<std::uint64_t>(formation_bytes(), 1));
    former_.emplace(FormTools{reactor_, compute_, *files_, *pool_, memory_, job_.plan, format_, progress_}, *reader_, seen_,
                    job_.unique);
    co_await former_->form(runs_);
    dropped_ += reader_->dropped() + former_->dropped();
    report_.runs = runs_.size();
    log_.end(reactor_.traffic());
  }

  Task<void> write_resident() {
    begin("sort_and_write", Phase::merge, reader_->bytes(), std::max<std::uint64_t>(reader_->bytes(), 1));
    LineRun& run = *former_->resident();
    dropped_ += co_await former_->sort(run);
    GatherLines gather(run, format_, job_.unique ? GatherLines::Checks::ascending : GatherLines::Checks::ordered);
    gather.set_header(first_rows_.top());
    co_await former_->gather_to(gather, output_sink());
    merged_.out = gather.hash();
    report_.longest_line = gather.longest();
    log_.end(reactor_.traffic());
  }

  [[nodiscard]] MergeTerms terms() const { return {job_.unique, !job_.merge}; }

  [[nodiscard]] MergeTools tools() { return {reactor_, compute_, *files_, memory_, job_.plan, format_}; }

  void open_inputs(std::vector<MergeInput>& inputs) {
    for (MergeInput& input : inputs)
      if (input.is_plain && !input.file && input.decoded == nullptr)
        input.file = storage_.open_input(input.name, io::Caching::direct_if_possible);
  }

  // Closes what was merged.
  void let_go(std::vector<MergeInput>& inputs) {
    for (const MergeInput& input : inputs)
      if (!input.is_plain) files_->close(input.run.stored);
    inputs.clear();
  }

  // Adjacent runs are merged until one merge can take all of them.
  Task<void> merge_intermediate() {
    MergeGroups groups(job_.plan);
    while (const std::optional<MergeGroup> group = groups.next(runs_)) co_await merge_group(group->first, group->fit);
  }

  Task<void> merge_group(std::size_t first, const MergeFit& fit) {
    const auto begin_at = runs_.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end_at = begin_at + static_cast<std::ptrdiff_t>(fit.inputs);
    std::vector<MergeInput>& group = merging_;
    group.assign(std::make_move_iterator(begin_at), std::make_move_iterator(end_at));
    runs_.erase(begin_at + 1, end_at);
    std::uint64_t bytes = 0;
    for (const MergeInput& input : group) bytes += input.is_plain ? 0 : input.run.bytes;
    open_inputs(group);
    const std::uint64_t moved = bytes_of(group);
    begin("intermediate_merge", Phase::intermediate_merge, moved, std::max<std::uint64_t>(2 * moved, 1));
    MergeLines merge(tools(), terms(), group, fit.slots);
    RowRun stored = files_->create(bytes);
    RunSink sink(reactor_, *pool_, progress_, *files_, stored);
    co_await merge.merge_to(sink, {});
    const MergedLines& merged = merge.merged();
    let_go(group);
    co_await files_->complete(stored, sink.bytes());
    stored.longest = merged.longest;
    stored.lines = merged.out.count;
    account(merged);
    runs_[first] = {};
    runs_[first].run = std::move(stored);
    ++report_.merges;
    log_.end(reactor_.traffic());
  }

  void account(const MergedLines& merged) {
    if (job_.merge) check_same(merged.in, merged.out + merged.dropped);
    dropped_ += merged.dropped;
    report_.blank_lines += merged.blank_lines;
    rows::add(report_.key_counts, merged.key_counts);
    report_.longest_line = std::max(report_.longest_line, merged.longest);
  }

  Task<void> merge_to_output() {
    open_inputs(runs_);
    const std::uint64_t bytes = bytes_of(runs_);
    begin("merge", Phase::merge, bytes, std::max<std::uint64_t>({progress_.job_bytes_left(), 2 * bytes, 1}));
    MergeParts merge(tools(), terms(), runs_, {*output_, *pool_, progress_});
    if (packed_)
      co_await merge.merge_whole(*packed_, first_rows_.top());
    else
      co_await merge.merge_to(*sink_, first_rows_.top());
    let_go(runs_);
    account(merge.merged());
    merged_.out = merge.merged().out;
    report_.merge_parts = merge.parts();
    log_.end(reactor_.traffic());
  }

  // Promise P1: what came in went out, by count and by hash. Files that were sorted by somebody else are hashed as each merge
  // takes their lines, and compared merge by merge.
  static void check_same(const records::MultisetHash& in, const records::MultisetHash& out) {
    if (out == in) return;
    throw VerificationError(fmt::format(
        "verification failed: {} lines with hash {} went in, {} with hash {} would come out; the output was not written",
        in.count, in.to_hex(), out.count, out.to_hex()));
  }

  void verify() {
    report_.hash = merged_.out + dropped_ + first_rows_.hash();
    if (!job_.merge) check_same(reader_->hash(), report_.hash);
  }

  Task<void> end_output() {
    begin("sync", Phase::sync, 0);
    if (!output_->facts().is_stream) {
      if (packed_ || sink_->is_padded() || is_reserved_)
        storage_.set_size(*output_, packed_ ? packed_->file_bytes() : sink_->bytes());
      co_await reactor_.sync(*output_);
    }
    log_.end(reactor_.traffic());
  }

  // `--verify=reread`: what the device gives back is what went in, in order.
  Task<void> reread_output() {
    if (output_->facts().is_stream || sink_->bytes() == 0) co_return;
    former_.reset();
    const std::string& top = first_rows_.top();
    const WrittenLines written{*output_, format_.mark_bytes(top), top.size(), sink_->bytes(),
                               std::max(report_.longest_line, top.size())};
    const std::uint64_t need = RereadLines::memory_bytes(written.longest, job_.plan.block_bytes);
    if (need > memory_.limit_bytes() - memory_.used_bytes())
      throw NotEnoughMemory(
          fmt::format("lines of {} bytes are too long to be read back with this memory; the output was not kept",
                      written.longest),
          memory_.limit_bytes(), memory_.used_bytes() + need);
    begin("reread", Phase::reread, written.bytes, written.bytes);
    rereader_.emplace(reactor_, compute_, format_, written, job_.plan.block_bytes, memory_, progress_);
    co_await rereader_->run();
    log_.end(reactor_.traffic());
    const bool is_ordered = rereader_->in_order() || !terms().must_be_ordered;
    if (rereader_->hash() != merged_.out + first_rows_.hash() || !is_ordered)
      throw VerificationError(
          "what was read back from the output is not what was written to it (check the drive); the output was not kept");
  }

  LinesReport finish() {
    begin("publish", Phase::sync, 0);
    report_.notices.push_back(engine::publish_output(storage_, std::move(output_), job_.output));
    log_.end(reactor_.traffic());
    report_.lines = report_.hash.count;
    report_.is_merge = job_.merge;
    report_.top_lines = first_rows_.hash().count;
    rows::add(report_.key_counts, reader_->key_counts());
    report_.blank_lines += reader_->blank_lines();
    report_.dropped = dropped_.count - report_.blank_lines;
    report_.input_bytes = reader_->bytes();
    report_.output_bytes = output_sink().bytes();
    if (packed_) report_.packed_bytes = packed_->file_bytes();
    for (const LineInput& input : job_.inputs)
      if (input.garbage_at) report_.notices.push_back(garbage_text(input.name, *input.garbage_at));
    report_.traffic = reactor_.traffic();
    report_.peak_temp_bytes = files_->peak_bytes();
    report_.peak_memory_bytes =
        memory_.peak_bytes() + first_rows_.top().size() + codec_memory_.peak_bytes() + allowance_.peak_bytes();
    progress_.begin(Phase::done, 0);
    return report_;
  }

  void begin(const char* name, Phase phase, std::uint64_t bytes, std::uint64_t share_bytes = 0) {
    log_.begin(name, reactor_.traffic());
    progress_.begin(phase, bytes, share_bytes);
  }

  // 0: unknown.
  [[nodiscard]] std::uint64_t input_size() const {
    std::uint64_t bytes = 0;
    for (const LineInput& input : job_.inputs) {
      if (!input.file || input.is_stream()) return 0;
      bytes += input.file->facts().bytes_to_read();
    }
    return bytes;
  }

  // More than a run buffer holds is written as runs, too.
  [[nodiscard]] std::uint64_t formation_bytes() const {
    return input_size() > job_.plan.run_buffer_bytes ? 2 * input_size() : input_size();
  }

  static std::uint64_t bytes_of(const std::vector<MergeInput>& inputs) {
    std::uint64_t bytes = 0;
    for (const MergeInput& input : inputs)
      bytes += !input.is_plain ? input.run.bytes : input.file ? input.file->facts().bytes_to_read() : 0;
    return bytes;
  }

  // What the job moves if the lines are short; how many runs they make shows when they are read.
  void plan_job() {
    const std::uint64_t bytes = input_size();
    if (bytes == 0) return;
    std::vector<MergeInput> runs(formation_bytes() == bytes ? 0 : div_up(bytes, job_.plan.run_buffer_bytes));
    for (MergeInput& run : runs) run.run.bytes = bytes / runs.size();
    const std::uint64_t again = intermediate_bytes(runs);
    progress_.plan_job(again > 0 ? 3 : 2, formation_bytes() + 2 * again + (runs.empty() ? bytes : 2 * bytes));
  }

  // The runs are there, or the files that are to be merged.
  void plan_merges() {
    const std::uint64_t again = intermediate_bytes(runs_), done = job_.merge ? 0 : reader_->bytes() + bytes_of(runs_);
    const std::uint64_t bytes = job_.merge ? input_size() : bytes_of(runs_);
    if (bytes == 0) return;
    progress_.plan_job((job_.merge ? 1U : 2U) + (again > 0 ? 1U : 0U), done + 2 * again + 2 * bytes, done);
  }

  // How many bytes merge_intermediate() will read, as far as the lengths of lines do not change what fits.
  [[nodiscard]] std::uint64_t intermediate_bytes(const std::vector<MergeInput>& runs) const {
    const std::size_t fan_in = std::max<std::size_t>(fit_merge(job_.plan, runs, 0).inputs, 2);
    std::vector<std::uint64_t> sizes;
    sizes.reserve(runs.size());
    for (const MergeInput& run : runs) sizes.push_back(run.is_plain ? 0 : run.run.bytes);
    return planner::passes_of(std::move(sizes), fan_in).moved_bytes;
  }

  LinesJob& job_;
  io::Storage& storage_;
  engine::Progress& progress_;
  engine::PhaseLog& log_;
  rows::RowFormat& format_;
  FirstRows first_rows_;
  MemoryBudget memory_, codec_memory_;  // the second one: of decompression and compression
  codec::Allowance allowance_;
  io::Reactor reactor_;
  engine::Compute compute_;
  LinesReport report_;
  io::FilePtr output_;
  bool is_reserved_ = false;
  std::optional<RowRuns> files_;
  std::optional<BlockPool> pool_;
  std::optional<OutputSink> sink_;
  std::optional<PackedSink> packed_;  // instead of it
  std::vector<std::unique_ptr<DecodedInput>> decoded_inputs_;
  std::vector<MergeInput> runs_, merging_;  // the last ones: in an intermediate merge
  std::vector<DuplicateFilter> seen_;       // with -u, one per thread
  std::optional<ReadLines> reader_;
  std::optional<FormLineRuns> former_;
  records::MultisetHash dropped_;
  MergedLines merged_;
  std::optional<RereadLines> rereader_;
  TaskGroup main_;
};

}  // namespace

LinesReport sort_lines(LinesJob& job, io::Storage& storage, io::Queue& queue, engine::Progress& progress, engine::PhaseLog& log,
                       const std::atomic<int>& interrupted) {
  auto sorter = std::make_unique<Sorter>(job, storage, queue, progress, log);
  try {
    return sorter->run(interrupted);
  } catch (const io::QueueBroken&) {
    (void)sorter.release();  // the system may still use its buffers: they live as long as the process
    throw;
  }
}

}  // namespace ecosort::lines
