#include "engine/rows/lines_sort.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/errors.h"
#include "engine/driver.h"
#include "engine/rows/append_rows.h"
#include "engine/rows/damaged_input.h"
#include "engine/rows/form_line_runs.h"
#include "engine/rows/limit_all.h"
#include "engine/rows/limit_groups.h"
#include "engine/rows/line_blocks.h"
#include "engine/rows/look_at_streams.h"
#include "engine/rows/merge_groups.h"
#include "engine/rows/merge_lines.h"
#include "engine/rows/merge_parts.h"
#include "engine/rows/reread_lines.h"
#include "engine/rows/row_output.h"
#include "engine/rows/write_resident.h"
#include "formats/shuffle/shuffle_format.h"

namespace ecosort::engine::rows {
namespace {

// Members are declared in the order in which they may be used.
class RowKernel final : public Kernel {
 public:
  RowKernel(LinesJob& job, Bench& bench)
      : job_(job),
        bench_(bench),
        format_(*job.format),
        first_rows_(format_, job.header_bytes, job.plan.memory_bytes),
        codec_memory_(job.codecs.bytes()),
        allowance_(decoder_allowance(job)),
        out_(job, bench, codec_memory_),
        groups_(job.plan) {}

  static BenchSize size_of(const LinesJob& job) {
    return {job.plan.memory_bytes, job.plan.threads, job.plan.read_depth, job.plan.write_depth};
  }

  [[nodiscard]] const char* items() const noexcept override { return "lines"; }

  [[nodiscard]] std::uint64_t most_output_bytes() const override {
    const std::uint64_t bytes = job_.kept || job_.groups.counts ? 0 : input_size();
    return bytes == 0 ? UINT64_MAX : bytes;
  }

  std::optional<Step> open(io::File& output) override {
    output_ = &output;
    out_.reserve(output);
    if (job_.codecs.runs.coders > 0)
      packer_.emplace(job_.codecs.runs, run::BlockShape{job_.plan.block_bytes, 0, job_.format->terminator()}, codec_memory_);
    files_.emplace(bench_.storage, bench_.reactor, job_.directories, job_.plan.block_bytes, job_.compress_program,
                   packer_ && !job_.kept ? &*packer_ : nullptr);
    pool_.emplace(bench_.reactor.scope(), bench_.memory.allocate(job_.plan.write_bytes(), "write blocks", job_.plan.pages),
                  job_.plan.block_bytes, job_.plan.write_blocks);
    out_.open(tools(), first_rows_.top());
    reader_.emplace(tools(), first_rows_, job_.inputs, seen_);
    reader_->set_look(job_.look);
    if (job_.codecs.input_bytes > 0) reader_->set_decoding(decoding());
    if (format_.leaves_out_bad_rows()) reader_->set_aside_to(set_aside_.emplace(bench_, job_.set_aside));
    if (job_.merge) {
      const std::uint64_t bytes = input_size();
      take_sorted_inputs();
      plan_merges(bytes);
      return std::nullopt;
    }
    plan_job();
    return Step{"run_formation", formation_bytes(), std::max<std::uint64_t>(formation_bytes(), 1)};
  }

  Task<void> form_runs() override {
    former_.emplace(tools(), *reader_, seen_, job_.groups);
    make_limit();
    if (packer_) former_->tell_pace(*packer_, input_size() > 0);
    if (job_.leaves_in_inputs && !limit_) former_->leave_in_inputs();
    co_await former_->form(runs_);
    dropped_ += reader_->dropped() + former_->dropped();
    if (limit_) dropped_ += limit_->repeated();
    report.runs = runs_.size();
    format_.check_counts(reader_->key_counts(), rows_read());
    for (const MergeInput& input : runs_) {
      report.runs_in_inputs += input.run.in_input ? 1 : 0;
      report.bytes_in_inputs += input.run.in_input ? input.run.bytes : 0;
    }
    if (is_resident())
      bench_.progress.plan_job(2, 2 * reader_->bytes(), reader_->bytes());
    else
      plan_merges(bytes_of(runs_));
  }

  std::string check_inputs() override { return job_.merge ? "" : reader_->check_unchanged(); }

  [[nodiscard]] bool reads_inputs_again() const override { return report.runs_in_inputs > 0; }

  // Adjacent runs are merged until one merge can take all of them.
  std::optional<Step> next_group() override {
    if (is_resident()) return std::nullopt;
    group_ = groups_.next(runs_);
    if (!group_) return std::nullopt;
    const auto first = runs_.begin() + static_cast<std::ptrdiff_t>(group_->first);
    const auto last = first + static_cast<std::ptrdiff_t>(group_->fit.inputs);
    merging_.assign(std::make_move_iterator(first), std::make_move_iterator(last));
    runs_.erase(first + 1, last);
    const std::uint64_t bytes = bytes_of(merging_);
    return Step{"intermediate_merge", bytes, std::max<std::uint64_t>(2 * bytes, 1)};
  }

  Task<void> merge_group() override {
    std::uint64_t bytes = 0;
    for (const MergeInput& input : merging_) bytes += input.is_plain ? 0 : input.run.bytes;
    MergeTerms to_run = terms_of_group();
    to_run.keeps_heads = true;
    MergeLines merge(tools(), to_run, merging_, group_->fit.slots);
    formats::KeyCuts cuts{};
    for (const MergeInput& input : merging_)
      for (std::size_t i = 0; i < cuts.size(); ++i) cuts[i] += input.run.cuts[i];
    run::RowRun stored = files_->create(bytes);
    RowRunSink sink(tools(), stored);
    co_await merge.merge_to(sink, {});
    account(merge.merged(), merging_);
    let_go(merging_);
    co_await files_->complete(stored, sink.bytes());
    stored.longest = merge.merged().longest;
    stored.lines = merge.merged().out.count;
    stored.cuts = cuts;
    runs_[group_->first] = {};
    runs_[group_->first].run = std::move(stored);
    runs_[group_->first].rows = merge.merged().out;
    ++report.merges;
  }

  std::optional<Step> last_merge() override {
    if (is_resident()) return Step{"sort_and_write", reader_->bytes(), std::max<std::uint64_t>(reader_->bytes(), 1)};
    const std::uint64_t bytes = bytes_of(runs_);
    return Step{"merge", bytes, std::max<std::uint64_t>({bench_.progress.job_bytes_left() - 2 * rest_bytes(), 2 * bytes, 1})};
  }

  Task<void> merge_to_output() override { return is_resident() ? write_resident() : merge_runs_to_output(); }

  std::optional<Step> rest() override {
    if (job_.rest.empty()) return std::nullopt;
    return Step{"append_rest", rest_bytes(), 2 * rest_bytes()};
  }

  Task<void> append_rest() override {
    for (RowsRest& rest : job_.rest) {
      FirstRows first_rows(format_, job_.header_bytes, job_.plan.memory_bytes);
      if (!format_.keys_need_first_row() && !job_.kept->top.empty())
        first_rows.compare_with("the first input of the job", job_.kept->top);
      AppendRows append(tools(), first_rows, rest);
      co_await append.append_to(out_.sink());
      append.check_inputs();
      rest_in_ += append.read();
      rest_out_ += append.written();
      report.appended += append.written().count;
      report.longest_line = std::max(report.longest_line, append.longest());
    }
  }

  // The lines of files that somebody else sorted are hashed as each merge takes them.
  [[nodiscard]] Proof proof() const override {
    if (job_.kept) return {job_.kept->hash + rest_in_, lines_out()};
    if (job_.merge) return {merged_in_, merged_out_};
    return {reader_->hash(), lines_out()};
  }

  Task<void> complete_output() override {
    co_await out_.complete();
    if (set_aside_) co_await set_aside_->finish();
  }

  [[nodiscard]] std::uint64_t written_bytes() const override { return out_.sink().bytes(); }

  [[nodiscard]] OutputContents contents() const override {
    return {last_out_.count, out_.file_bytes(), last_out_ + first_rows_.hash()};
  }

  Task<bool> reread() override {
    former_.reset();
    const std::string& top = first_rows_.top();
    const WrittenLines written{*output_, format_.mark_bytes(top), top.size(), written_bytes(),
                               std::max(report.longest_line, top.size())};
    const std::uint64_t need = RereadLines::memory_bytes(written.longest, job_.plan.block_bytes);
    const MemoryBudget& memory = bench_.memory;
    if (need > memory.limit_bytes() - memory.used_bytes())
      throw NotEnoughMemory(
          fmt::format("lines of {} bytes are too long to be read back with this memory; the output was not kept",
                      written.longest),
          memory.limit_bytes(), memory.used_bytes() + need);
    rereader_.emplace(tools(), written);
    co_await rereader_->run();
    const bool is_ordered = rereader_->in_order() || !terms().must_be_ordered;
    co_return rereader_->hash() == last_out_ + first_rows_.hash() && is_ordered;
  }

  WorkReport& sum_up() override {
    report.hash = lines_out();
    report.records = report.hash.count;
    report.is_merge = job_.merge;
    report.top_lines = first_rows_.hash().count;
    if (shuffle::as_shuffle(format_) == nullptr) formats::add(report.key_counts, reader_->key_counts());
    report.blank_lines += reader_->blank_lines();
    formats::add(repeated_header_, reader_->repeated_header());
    report.notices.push_back(formats::notice_of(repeated_header_));
    report.beyond = beyond_limit().count;
    report.comments = reader_->comments();
    report.dropped = dropped_.count - report.blank_lines - report.comments;
    if (job_.groups.is_limit) report.beyond += std::exchange(report.dropped, 0);
    report.skipped = skipped_.count;
    if (set_aside_) report_bad_rows();
    report.input_bytes = reader_->bytes();
    out_.report_to(report);
    report.peak_temp_bytes = files_->peak_bytes();
    if (packer_ && packer_->report().blocks > 0) report.run_packing = packer_->report();
    report.peak_memory_bytes +=
        first_rows_.top().size() + codec_memory_.peak_bytes() + allowance_.peak_bytes() + files_->peak_index_bytes();
    return report;
  }

  [[nodiscard]] std::optional<std::string> publish_own() override {
    if (out_.split() == nullptr) return std::nullopt;
    const std::string of_others = bench_.storage.publish_all(further_outputs());
    const std::string told = out_.split()->publish(last_out_);
    return told.empty() ? of_others : told;
  }

  [[nodiscard]] std::vector<io::Storage::Named> further_outputs() override {
    if (!set_aside_ || set_aside_->file() == nullptr) return {};
    return {{set_aside_->file(), set_aside_->path()}};
  }

  void give_up() noexcept override {
    if (files_) files_->terminate_programs();
  }

  LinesReport report;

 private:
  // Returns what the chunks of the inputs that are decoded at a time leave.
  static std::uint64_t decoder_allowance(const LinesJob& job) {
    std::uint64_t at_a_time = 0;
    for (const LineInput& input : job.inputs) at_a_time += input.is_decoded() ? 1 : 0;
    if (!job.merge) at_a_time = 1;
    const std::uint64_t chunks = at_a_time * decode_chunks_bytes(job.codecs.chunk_bytes);
    return job.codecs.input_bytes - std::min(job.codecs.input_bytes, chunks);
  }

  [[nodiscard]] DecodeTools decoding() {
    return {bench_.reactor, bench_.compute, codec_memory_, allowance_, job_.codecs.memory_bytes, job_.codecs.chunk_bytes};
  }

  void take_sorted_inputs() {
    if (job_.kept) first_rows_.put_on_top(job_.kept->top);
    for (LineInput& input : job_.inputs) {
      MergeInput plain;
      plain.name = input.name;
      plain.is_plain = true;
      plain.look = &job_.look;
      if (input.run) {
        plain.kept = &*input.run;
        plain.coders = packer_ ? &*packer_ : nullptr;
      } else {
        plain.first_rows = &first_rows_;
      }
      if (input.is_decoded())
        plain.decoded = decoded_inputs_.emplace_back(std::make_unique<DecodedInput>(decoding(), input)).get();
      else
        plain.file = std::move(input.file);
      runs_.push_back(std::move(plain));
    }
  }

  void make_limit() {
    const unsigned threads = bench_.compute.threads();
    if (job_.groups.is_limit)
      limit_ = std::make_unique<LimitGroups>(format_, job_.groups, threads);
    else if (job_.limit)
      limit_ = std::make_unique<LimitAll>(format_, *job_.limit, job_.groups, threads);
    if (!limit_) return;
    reader_->set_limit(*limit_);
    former_->set_limit(*limit_);
  }

  // All lines are in one run, which was not stored.
  [[nodiscard]] bool is_resident() const noexcept { return former_ && former_->resident() != nullptr; }

  Task<void> write_resident() {
    WriteResident resident(job_, bench_, *former_, out_);
    co_await resident.write();
    end_last(resident.written(), {});
  }

  Task<void> merge_runs_to_output() {
    MergeTerms to_output = terms();
    to_output.skip = job_.skip;
    MergeParts merge(tools(), to_output, runs_, *output_);
    out_.set_total(bytes_of(runs_));
    co_await out_.merge(merge);
    end_last(merge.merged(), runs_);
    let_go(runs_);
    const bool read_all = !job_.limit || last_out_.count < *job_.limit;
    if (job_.merge && !job_.kept && read_all)
      format_.check_counts(report.key_counts, lines_out().count - first_rows_.hash().count - report.blank_lines);
    report.merge_parts = merge.parts();
  }

  [[nodiscard]] MergeTerms terms() const {
    const bool is_of_files = job_.merge && !job_.kept;
    return {.groups = job_.groups,
            .must_be_ordered = !is_of_files || job_.checks_order,
            .is_of_files = is_of_files,
            .limit = job_.limit.value_or(UINT64_MAX)};
  }

  // Only the last merge sees the end of a group, so the others keep all rows where this end decides.
  [[nodiscard]] MergeTerms terms_of_group() const {
    MergeTerms all = terms();
    if (all.groups.is_decided_at_end()) all.groups = {};
    return all;
  }

  [[nodiscard]] RowTools tools() { return {{bench_, job_.plan, format_}, *files_, *pool_}; }

  // Closes what was merged.
  void let_go(std::vector<MergeInput>& inputs) {
    for (const MergeInput& input : inputs)
      if (!input.is_plain && !input.run.in_input) files_->close(input.run.stored);
    inputs.clear();
  }

  void account(const MergedLines& merged, const std::vector<MergeInput>& inputs) {
    const bool may_end_early = limit_ && limit_->ends_merges();
    for (const MergeInput& input : inputs)
      if (may_end_early) left_in_runs_ += input.rows;
    if (may_end_early) left_in_runs_ -= merged.in;
    merged_in_ += merged.in;
    merged_out_ += merged.out + merged.dropped;
    dropped_ += merged.dropped;
    skipped_ += merged.skipped;
    report.blank_lines += merged.blank_lines;
    formats::add(repeated_header_, merged.repeated_header);
    formats::add(report.key_counts, merged.key_counts);
    report.longest_line = std::max(report.longest_line, merged.longest);
  }

  // All rows went out, from these inputs.
  void end_last(const MergedLines& merged, const std::vector<MergeInput>& inputs) {
    account(merged, inputs);
    last_out_ = merged.out;
    if (job_.groups.counts) report.counted = merged.rows_of_groups;
  }

  // Returns what goes out, and what was dropped or set aside.
  [[nodiscard]] hash::MultisetHash lines_out() const {
    const hash::MultisetHash aside = set_aside_ ? set_aside_->hash() : hash::MultisetHash();
    return last_out_ + dropped_ + skipped_ + first_rows_.hash() + rest_out_ + beyond_limit() + aside;
  }

  // Returns what the limit left out: as it came, from full buffers, and in runs that no merge had to read to their ends. Each of
  // these was hashed when it was written, and what a merge took when it was read.
  [[nodiscard]] hash::MultisetHash beyond_limit() const {
    if (!limit_) return {};
    return reader_->beyond() + limit_->beyond() + left_in_runs_;
  }

  // Returns how many rows there are to be sorted.
  [[nodiscard]] std::uint64_t rows_read() const {
    return reader_->hash().count - first_rows_.hash().count - reader_->blank_lines() - reader_->comments() -
           (set_aside_ ? set_aside_->rows() : 0);
  }

  void report_bad_rows() {
    report.bad_rows = set_aside_->rows();
    report.named_bad_rows = set_aside_->named();
    report.set_aside = set_aside_->path();
    report.set_aside_bytes = set_aside_->file() == nullptr ? 0 : set_aside_->bytes();
    report.peak_memory_bytes += set_aside_->peak_memory_bytes();
  }

  [[nodiscard]] std::uint64_t rest_bytes() const {
    std::uint64_t bytes = 0;
    for (const RowsRest& rest : job_.rest) bytes += rest.bytes();
    return bytes;
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

  // Plans what the job moves if the lines are short; how many runs they make shows when they are read.
  void plan_job() {
    const std::uint64_t bytes = input_size();
    if (bytes == 0) return;
    std::vector<MergeInput> runs(formation_bytes() == bytes ? 0 : div_up(bytes, job_.plan.run_buffer_bytes));
    for (MergeInput& run : runs) run.run.bytes = bytes / runs.size();
    const std::uint64_t again = intermediate_bytes(job_.plan, runs);
    bench_.progress.plan_job(again > 0 ? 3 : 2, formation_bytes() + 2 * again + (runs.empty() ? bytes : 2 * bytes));
  }

  // The runs are there, or the files that are to be merged.
  void plan_merges(std::uint64_t bytes) {
    if (bytes == 0) return;
    const std::uint64_t again = intermediate_bytes(job_.plan, runs_),
                        done = job_.merge ? 0 : reader_->bytes() + bytes - report.bytes_in_inputs;
    bench_.progress.plan_job((job_.merge ? 1U : 2U) + (again > 0 ? 1U : 0U), done + 2 * (again + bytes + rest_bytes()), done);
  }

  LinesJob& job_;
  Bench& bench_;
  formats::RowFormat& format_;
  FirstRows first_rows_;
  MemoryBudget codec_memory_;  // of decompression and compression
  codec::Allowance allowance_;
  io::File* output_ = nullptr;
  std::optional<run::RunPacker> packer_;  // where runs may be compressed, or runs of jobs are
  std::optional<run::RowRuns> files_;
  std::optional<BlockPool> pool_;
  RowOutput out_;
  std::vector<std::unique_ptr<DecodedInput>> decoded_inputs_;
  MergeGroups groups_;
  std::optional<MergeGroup> group_;
  std::vector<MergeInput> runs_, merging_;    // the last ones: in an intermediate merge
  std::vector<lines::DuplicateFilter> seen_;  // with -u, one per thread
  std::optional<SetAside> set_aside_;
  std::optional<ReadLines> reader_;
  std::unique_ptr<LimitRows> limit_;
  std::optional<FormLineRuns> former_;
  hash::MultisetHash left_in_runs_;  // of runs that were merged, what the limit left unread
  hash::MultisetHash dropped_, skipped_;
  formats::RepeatedHeader repeated_header_;
  hash::MultisetHash merged_in_, merged_out_;  // of all merges; the last one with what they dropped
  hash::MultisetHash last_out_;                // of the lines in the output
  hash::MultisetHash rest_in_, rest_out_;      // of those behind them, as they were read, and as they were written
  std::optional<RereadLines> rereader_;
};

}  // namespace

LinesReport sort_lines(LinesJob& job, const Environment& environment) {
  const io::Traffic looks = look_at_streams(job, environment);
  LinesReport report = drive<RowKernel>(job, environment);
  report.traffic += looks;
  return report;
}

}  // namespace ecosort::engine::rows
