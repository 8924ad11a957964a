#include "engine/fixed/sort.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "base/errors.h"
#include "base/full_drive.h"
#include "base/memory.h"
#include "engine/driver.h"
#include "engine/fixed/checked_output.h"
#include "engine/fixed/form_runs.h"
#include "engine/fixed/gather_sort.h"
#include "engine/fixed/merge_resident.h"
#include "engine/fixed/merge_runs.h"
#include "engine/fixed/reread.h"
#include "engine/fixed/write_behind.h"
#include "run/record_runs.h"

namespace ecosort::engine::fixed {

namespace {

constexpr std::uint64_t head_block_bytes = std::uint64_t{128} << 10U;  // more than one unit of any drive

// Members are declared in the order in which they may be used; what computes or waits dies before what it uses.
class RecordKernel final : public Kernel {
 public:
  RecordKernel(SortJob& job, Bench& bench)
      : job_(job),
        bench_(bench),
        plan_(job.plan),
        encoder_(plan_.wanted.format),
        packer_(packer_of(plan_, bench.memory)),
        store_(bench.storage, bench.reactor, plan_, job.directories, packer_.get()),
        reader_(bench, plan_, encoder_, job.inputs) {}

  static BenchSize size_of(const SortJob& job) {
    const planner::RecordPlan& plan = job.plan;
    return {plan.wanted.memory_bytes, plan.is_small ? 0 : plan.wanted.threads, plan.read_depth, plan.write_depth};
  }

  [[nodiscard]] const char* items() const noexcept override { return "records"; }

  [[nodiscard]] std::uint64_t most_output_bytes() const override {
    const planner::Wanted& wanted = job_.plan.wanted;
    return wanted.size_unknown ? UINT64_MAX : wanted.input_records * wanted.output_record_size();
  }

  std::optional<Step> open(io::File& output) override {
    output_ = &output;
    bench_.memory.count_elsewhere(plan_.table_bytes());
    if (!plan_.wanted.size_unknown) plan_job(0);
    return Step{plan_.shape == planner::Shape::one_pass ? "read_and_sort" : "run_formation", formation_bytes(),
                std::max<std::uint64_t>(formation_bytes(), 1)};
  }

  Task<void> form_runs() override {
    former_.emplace(tools(), plan_, reader_, packer_.get());
    if (job_.limit) {
      co_await form_limited();
    } else if (plan_.wanted.size_unknown) {
      co_await form_from_stream();
    } else {
      former_->create_runs();
      reserve_output();
      co_await former_->form();
    }
    runs_ = former_->take_runs();
    former_->free_buffers();
    reader_.free_buffers();
    report.runs = runs_.records.size();
    count_runs_in_inputs();
    for (std::size_t i = 0; i < runs_.records.size(); ++i) sources_.push_back(source(i));
    bench_.compute.use(plan_.wanted.threads_of_merge());
  }

  [[nodiscard]] bool reads_inputs_again() const override { return report.runs_in_inputs > 0; }

  std::string check_inputs() override {
    reader_.check_unchanged(bench_.storage);
    return "";
  }

  std::optional<Step> next_group() override {
    if (step_ + 1 >= plan_.merge.steps.size()) return std::nullopt;
    const planner::MergeStep& step = plan_.merge.steps[step_];
    group_.assign(sources_.begin() + step.first_run, sources_.begin() + step.first_run + step.fan_in);
    merged_run_ = {};
    for (const MergedRun& member : group_) merged_run_.records += member.records;
    const std::uint64_t bytes = merged_run_.records * encoder_.record_size();
    return Step{"intermediate_merge", bytes, 2 * bytes};
  }

  Task<void> merge_group() override {
    const planner::MergeStep& step = plan_.merge.steps[step_++];
    merged_run_.stored = store_.create(merged_run_.records);
    merge_.emplace(tools(), plan_.merge.intermediate, plan_.merge.waiting_bytes, std::move(group_));
    co_await merge_->merge_to_run(merged_run_.stored);
    report.demand_reads += merge_->demand_reads();
    merge_.reset();
    ++report.merges;
    const auto first = sources_.begin() + step.first_run;
    *first = merged_run_;
    sources_.erase(first + 1, first + step.fan_in);
  }

  std::optional<Step> last_merge() override {
    if (sources_.empty() && job_.head.empty()) return std::nullopt;
    const std::uint64_t left = bench_.progress.job_bytes_left();
    return Step{"merge", output_bytes(), std::max(left - std::min(left, reread_bytes()), output_bytes())};
  }

  Task<void> merge_to_output() override {
    planner::MergeBuffers buffers = plan_.merge.final;
    if (sources_.empty()) buffers = {.output_block_bytes = head_block_bytes, .output_blocks = 1};  // the head goes out alone
    reserve_what_runs_left();
    const OutputTerms terms{.total_bytes = job_.head.size() + most_written_bytes(),
                            .reserve_bytes = plan_.merge.reserve_bytes,
                            .reserved_bytes = output_reserved_,
                            .request_bytes = plan_.wanted.requests.output_bytes};
    writer_.emplace(bench_, *output_, buffers, terms, &store_);
    CheckedOutput output(*writer_, bench_.compute, encoder_, job_.groups);
    co_await output.put_head(job_.head);
    if (plan_.merge.stored_runs == 0) {
      resident_.emplace(bench_, encoder_, buffers, runs_.resident);
      co_await resident_->merge_to_output(output);
    } else {
      merge_.emplace(tools(), buffers, plan_.merge.waiting_bytes, sources_);
      if (job_.limit) merge_->stop_after(*job_.limit);
      co_await merge_->merge_to_output(output);
      report.demand_reads += merge_->demand_reads();
      if (job_.limit) taken_ = merge_->taken();
    }
    merged_ = output.merged();
  }

  [[nodiscard]] Proof proof() const override {
    const hash::MultisetHash out = merged_.tally.hash + merged_.dropped.hash;
    if (!limit_) return {reader_.tally().hash, out, plan_.wanted.input_records};
    return {reader_.tally().hash, out + limit_->repeated() + beyond_limit(), known_records()};
  }

  Task<void> complete_output() override { co_return; }  // what wrote the last batch did

  [[nodiscard]] OutputContents contents() const override {
    return {merged_.tally.hash.count, written_bytes(), merged_.tally.hash};
  }

  [[nodiscard]] std::uint64_t written_bytes() const override {
    return job_.head.size() + merged_.tally.hash.count * plan_.wanted.output_record_size();
  }

  Task<bool> reread() override {
    writer_.reset();
    merge_.reset();
    resident_.reset();
    rereader_.emplace(bench_, encoder_, *output_, RecordRange{0, merged_.tally.hash.count, job_.head.size()},
                      plan_.formation.read_block_bytes);
    co_await rereader_->run();
    co_return rereader_->tally().hash == merged_.tally.hash && rereader_->in_order();
  }

  WorkReport& sum_up() override {
    report.plan = plan_;
    report.records = reader_.tally().hash.count;
    report.dropped = merged_.dropped.hash.count;
    if (limit_) report.dropped += limit_->repeated().count;
    report.beyond = beyond_limit().count;
    if (job_.groups.policy.is_limit) report.beyond = std::exchange(report.dropped, 0);
    if (job_.groups.policy.counts) report.counted = merged_.records_of_groups;
    report.input_bytes = report.records * encoder_.record_size();
    report.output_bytes = written_bytes();
    report.hash = reader_.tally().hash;
    report.checksum = reader_.tally().checksum;
    report.equal_pairs = merged_.equal_pairs;
    report.peak_temp_bytes = store_.peak_bytes();
    if (packer_ && packer_->report().blocks > 0) report.run_packing = packer_->report();
    return report;
  }

  SortReport report;

 private:
  static std::unique_ptr<run::RunPacker> packer_of(const planner::RecordPlan& plan, MemoryBudget& memory) {
    if (plan.packing.coders == 0) return nullptr;
    return std::make_unique<run::RunPacker>(plan.packing, run::BlockShape{plan.run_block.bytes, plan.wanted.format.record_size},
                                            memory);
  }

  Task<void> form_from_stream() {
    co_await former_->form_stream();
    plan_.forecast_stride = store_.forecast().fix_stride();
    planner::complete_plan(plan_, former_->run_records(), former_->runs_in_memory());
    bench_.memory.count_elsewhere(plan_.table_bytes());
    co_await former_->store_all_but(plan_.merge.resident_runs);
    plan_job(output_bytes() + plan_.run_bytes);
  }

  // Records that may be wanted are fewer than those that are read: how many shows at the end, as of a stream.
  Task<void> form_limited() {
    limit_.emplace(encoder_, *job_.limit, job_.groups, plan_.formation.run_records);
    co_await former_->form_limited(*limit_, known_records());
    plan_.forecast_stride = store_.forecast().fix_stride();
    planner::complete_plan(plan_, former_->run_records(), former_->runs_in_memory());
    bench_.memory.count_elsewhere(plan_.table_bytes());
    if (former_->runs_in_memory() > plan_.merge.resident_runs) throw InternalError("a run that fits a buffer is to be stored");
  }

  // Nothing: of a stream.
  [[nodiscard]] std::optional<std::uint64_t> known_records() const {
    std::uint64_t records = 0;
    for (const Input& input : job_.inputs) {
      if (input.file->facts().is_stream) return std::nullopt;
      records += input.records;
    }
    return records;
  }

  // Returns what the limit left out: before it was stored, and in runs that the merge had not to read to their ends. Each of
  // these was hashed when it was written, and what the merge took when it was verified.
  [[nodiscard]] hash::MultisetHash beyond_limit() const {
    hash::MultisetHash beyond;
    if (!limit_) return beyond;
    beyond += limit_->beyond();
    beyond += runs_.written;
    if (taken_) beyond -= *taken_;
    return beyond;
  }

  // All of the output, or, where the runs share its file system, what it needs before they give space back.
  void reserve_output() {
    if (output_->facts().is_stream || output_bytes() == 0) return;
    const std::uint64_t all = round_up(most_written_bytes(), page_bytes);  // writes end at whole units
    bool shared = false;
    for (std::size_t run = 0; run < plan_.merge.stored_runs; ++run)
      for (const io::FilePtr& stripe : store_.run(run).stripes())
        shared |= bench_.storage.state(*stripe).device == bench_.storage.state(*output_).device;
    const std::uint64_t bytes = shared && job_.runs_give_back ? std::min(all, plan_.merge.reserve_bytes) : all;
    if (bench_.storage.reserve_patiently(*output_, 0, bytes)) output_reserved_ = bytes;
  }

  // Reserves for the output what runs did not take of their space because they are compressed or lie in the inputs: no one else
  // is to have it. If somebody has it already, it may yet come with what the merge gives back.
  void reserve_what_runs_left() {
    const std::uint64_t all = round_up(most_written_bytes(), page_bytes), taken = store_.allocated_bytes();
    if ((!packer_ && report.runs_in_inputs == 0) || output_reserved_ == 0 || taken >= all || all - taken <= output_reserved_)
      return;
    try {
      if (bench_.storage.reserve_patiently(*output_, 0, all - taken)) output_reserved_ = all - taken;
    } catch (const IoError& error) {
      if (!is_full(error.error_number())) throw;
    }
  }

  void count_runs_in_inputs() {
    for (std::size_t run = 0; run < runs_.in_inputs.size(); ++run) {
      if (!runs_.in_inputs[run]) continue;
      ++report.runs_in_inputs;
      report.bytes_in_inputs += runs_.records[run] * encoder_.record_size();
    }
  }

  [[nodiscard]] MergedRun source(std::size_t run) const {
    MergedRun source;
    source.records = runs_.records[run];
    source.is_resident = run >= runs_.stored.size();
    if (source.is_resident)
      source.resident = &runs_.resident[run - runs_.stored.size()];
    else
      source.stored = runs_.stored[run];
    if (run < runs_.in_inputs.size() && runs_.in_inputs[run]) source.in_input = &*runs_.in_inputs[run];
    return source;
  }

  [[nodiscard]] RecordTools tools() noexcept { return {bench_, encoder_, store_}; }

  // `done_bytes` were read and written before the plan was complete.
  void plan_job(std::uint64_t done_bytes) {
    const unsigned phases = 2U + (plan_.merge.steps.size() > 1 ? 1U : 0U) + (reread_bytes() > 0 ? 1U : 0U);
    bench_.progress.plan_job(phases, plan_.bytes_read + plan_.bytes_written + reread_bytes(), done_bytes);
  }

  [[nodiscard]] std::uint64_t reread_bytes() const { return job_.reread && !output_->facts().is_stream ? output_bytes() : 0; }

  // Returns the bytes of an output from which nothing is dropped.
  [[nodiscard]] std::uint64_t output_bytes() const { return plan_.wanted.input_records * encoder_.record_size(); }

  // Returns them with a count in front of each record, where records are counted.
  [[nodiscard]] std::uint64_t most_written_bytes() const {
    return plan_.wanted.input_records * plan_.wanted.output_record_size();
  }

  [[nodiscard]] std::uint64_t formation_bytes() const { return plan_.wanted.size_unknown ? 0 : output_bytes() + plan_.run_bytes; }

  SortJob& job_;
  Bench& bench_;
  planner::RecordPlan plan_;
  records::Encoder encoder_;
  std::unique_ptr<run::RunPacker> packer_;  // where runs may be compressed
  run::RecordRuns store_;
  ReadAhead reader_;
  io::File* output_ = nullptr;
  std::optional<LimitRecords> limit_;
  std::optional<hash::MultisetHash> taken_;  // from stored runs, with a limit
  std::optional<FormRuns> former_;
  FormedRuns runs_;
  std::vector<MergedRun> sources_, group_;
  std::size_t step_ = 0;  // of the plan's merges
  MergedRun merged_run_;
  std::uint64_t output_reserved_ = 0;
  std::optional<WriteBehind> writer_;
  std::optional<MergeResident> resident_;
  std::optional<MergeRuns> merge_;
  MergedOutput merged_;
  std::optional<Reread> rereader_;
};

}  // namespace

SortReport sort(SortJob& job, const Environment& environment) {
  if (job.plan.shape == planner::Shape::gathered) return gather_sort(job, environment);
  return drive<RecordKernel>(job, environment);
}

}  // namespace ecosort::engine::fixed
