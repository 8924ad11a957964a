#include "engine/fixed/sort.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "base/errors.h"
#include "base/memory.h"
#include "engine/compute.h"
#include "engine/fixed/checked_output.h"
#include "engine/fixed/form_runs.h"
#include "engine/fixed/merge_resident.h"
#include "engine/fixed/merge_runs.h"
#include "engine/fixed/reread.h"
#include "engine/fixed/write_behind.h"
#include "engine/open_output.h"
#include "run/record_runs.h"

namespace ecosort::engine {

namespace {

// One sort. Members are declared in the order in which they may be used; what computes or waits dies before what it uses.
class Sorter {
 public:
  Sorter(SortJob& job, io::Storage& storage, io::Queue& queue, Progress& progress, PhaseLog& log)
      : job_(job),
        storage_(storage),
        progress_(progress),
        log_(log),
        plan_(job.plan),
        encoder_(job.plan.wanted.format),
        memory_(job.plan.wanted.memory_bytes),
        reactor_(queue, job.plan.read_depth, job.plan.write_depth),
        compute_(reactor_, job.plan.wanted.threads),
        main_(reactor_.scope()) {
    reactor_.wait_with(storage_);
  }

  SortReport run(const std::atomic<int>& interrupted) {
    main_.spawn(sort());
    reactor_.run(main_, interrupted);
    return finish();
  }

 private:
  Task<void> sort() {
    store_.emplace(storage_, reactor_, plan_, job_.directories);
    reader_.emplace(reactor_, compute_, plan_, encoder_, job_.inputs, memory_);
    output_ = open_output(storage_, job_.output);
    co_await form_runs();
    reader_->check_unchanged(storage_);
    compute_.use(plan_.wanted.threads_of_merge());
    co_await merge_intermediate();
    co_await merge_to_output();
    verify();
    co_await sync_output();
    if (job_.reread) co_await reread_output();
  }

  // All of the output, or, where the runs share its file system, what it needs before they give space back.
  void reserve_output() {
    if (output_->facts().is_stream || output_bytes() == 0) return;
    const std::uint64_t all = round_up(output_bytes(), page_bytes);  // writes end at whole units
    bool shared = false;
    for (std::size_t run = 0; run < plan_.merge.stored_runs; ++run)
      for (const io::FilePtr& stripe : store_->run(run).stripes)
        shared |= storage_.state(*stripe).device == storage_.state(*output_).device;
    const std::uint64_t bytes = shared && job_.runs_give_back ? std::min(all, plan_.merge.reserve_bytes) : all;
    if (storage_.reserve_patiently(*output_, 0, bytes)) output_reserved_ = bytes;
  }

  Task<void> form_runs() {
    if (!plan_.wanted.size_unknown) plan_job(0);
    begin(plan_.shape == planner::Shape::one_pass ? "read_and_sort" : "run_formation", Phase::run_formation, formation_bytes(),
          std::max<std::uint64_t>(formation_bytes(), 1));
    former_.emplace(reactor_, compute_, memory_, plan_, encoder_, *reader_, *store_, progress_);
    if (plan_.wanted.size_unknown) {
      co_await former_->form_stream();
      plan_.forecast_stride = store_->forecast().fix_stride();
      planner::complete_plan(plan_, former_->run_records(), former_->runs_in_memory());
      co_await former_->store_all_but(plan_.merge.resident_runs);
      plan_job(output_bytes() + plan_.run_bytes);
    } else {
      former_->create_runs();
      reserve_output();
      co_await former_->form();
    }
    runs_ = former_->take_runs();
    former_->free_buffers();
    reader_->free_buffers();
    log_.end(reactor_.traffic());
    report_.runs = runs_.records.size();
    for (std::size_t i = 0; i < runs_.records.size(); ++i) sources_.push_back(source(i));
  }

  [[nodiscard]] MergeInput source(std::size_t run) const {
    MergeInput source;
    source.records = runs_.records[run];
    source.is_resident = run >= runs_.stored.size();
    if (source.is_resident)
      source.resident = &runs_.resident[run - runs_.stored.size()];
    else
      source.stored = runs_.stored[run];
    return source;
  }

  Task<void> merge_intermediate() {
    const std::vector<planner::MergeStep>& steps = plan_.merge.steps;
    for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
      const auto first = sources_.begin() + steps[i].first_run;
      const auto last = first + steps[i].fan_in;
      std::vector<MergeInput> group(first, last);
      MergeInput merged;
      for (const MergeInput& member : group) merged.records += member.records;
      merged.stored = store_->create(merged.records);
      begin("intermediate_merge", Phase::intermediate_merge, merged.records * encoder_.record_size(),
            2 * merged.records * encoder_.record_size());
      merges_.push_back(std::make_unique<MergeRuns>(reactor_, compute_, *store_, encoder_, plan_.merge.intermediate,
                                                    plan_.merge.waiting_bytes, std::move(group), memory_, progress_));
      co_await merges_.back()->merge_to_run(merged.stored);
      report_.demand_reads += merges_.back()->demand_reads();
      merges_.clear();
      log_.end(reactor_.traffic());
      *first = merged;
      sources_.erase(first + 1, last);
    }
  }

  Task<void> merge_to_output() {
    if (sources_.empty()) co_return;
    const std::uint64_t left = progress_.job_bytes_left();
    begin("merge", Phase::merge, output_bytes(), std::max(left - std::min(left, reread_bytes()), output_bytes()));
    const planner::MergeBuffers& buffers = plan_.merge.final;
    const OutputTerms terms{.total_bytes = output_bytes(),
                            .reserve_bytes = plan_.merge.reserve_bytes,
                            .reserved_bytes = output_reserved_,
                            .request_bytes = plan_.wanted.requests.output_bytes};
    writer_.emplace(storage_, reactor_, &*store_, *output_, buffers, terms,
                    memory_.allocate(buffers.output_block_bytes * buffers.output_blocks, "output blocks"), progress_);
    CheckedOutput output(*writer_, compute_, encoder_, job_.unique);
    if (plan_.merge.stored_runs == 0) {
      resident_.emplace(reactor_, compute_, encoder_, buffers, runs_.resident, memory_);
      co_await resident_->merge_to_output(output);
    } else {
      merges_.push_back(std::make_unique<MergeRuns>(reactor_, compute_, *store_, encoder_, buffers, plan_.merge.waiting_bytes,
                                                    sources_, memory_, progress_));
      co_await merges_.back()->merge_to_output(output);
      report_.demand_reads += merges_.back()->demand_reads();
    }
    merged_ = output.merged();
    log_.end(reactor_.traffic());
  }

  Task<void> sync_output() {
    begin("sync", Phase::sync, 0);
    if (!output_->facts().is_stream) co_await reactor_.sync(*output_);
    log_.end(reactor_.traffic());
  }

  // `--verify=reread`: what the device gives back is what went in, in order.
  Task<void> reread_output() {
    if (output_->facts().is_stream || merged_.tally.hash.count == 0) co_return;
    writer_.reset();
    merges_.clear();
    resident_.reset();
    begin("reread", Phase::reread, merged_.tally.hash.count * encoder_.record_size(), reread_bytes());
    rereader_.emplace(reactor_, compute_, encoder_, *output_, RecordRange{0, merged_.tally.hash.count},
                      plan_.formation.read_block_bytes, memory_, progress_);
    co_await rereader_->run();
    log_.end(reactor_.traffic());
    if (rereader_->tally().hash != merged_.tally.hash || !rereader_->in_order())
      throw VerificationError(
          "what was read back from the output is not what was written to it (check the drive); the output was not kept");
  }

  // Promise P1: what came in went out, by count and by hash, from different buffers. Before anything gets a name.
  void verify() const {
    Tally out = merged_.tally;
    out += merged_.dropped;
    const records::MultisetHash& in = reader_->tally().hash;
    if (out.hash == in && in.count == plan_.wanted.input_records) return;
    throw VerificationError(fmt::format(
        "verification failed: {} records with hash {} went in, {} with hash {} would come out; the output was not written",
        in.count, in.to_hex(), out.hash.count, out.hash.to_hex()));
  }

  SortReport finish() {
    begin("publish", Phase::sync, 0);
    report_.notice = publish_output(storage_, std::move(output_), job_.output);
    log_.end(reactor_.traffic());
    report_.plan = plan_;
    report_.records = plan_.wanted.input_records;
    report_.dropped = merged_.dropped.hash.count;
    report_.tally = reader_->tally();
    report_.traffic = reactor_.traffic();
    report_.peak_temp_bytes = store_->peak_bytes();
    report_.peak_memory_bytes = memory_.peak_bytes();
    progress_.begin(Phase::done, 0);
    return report_;
  }

  void begin(const char* name, Phase phase, std::uint64_t bytes, std::uint64_t share_bytes = 0) {
    log_.begin(name, reactor_.traffic());
    progress_.begin(phase, bytes, share_bytes);
  }

  // `done_bytes` were read and written before the plan was complete.
  void plan_job(std::uint64_t done_bytes) {
    const unsigned phases = 2U + (plan_.merge.steps.size() > 1 ? 1U : 0U) + (reread_bytes() > 0 ? 1U : 0U);
    progress_.plan_job(phases, plan_.bytes_read + plan_.bytes_written + reread_bytes(), done_bytes);
  }

  [[nodiscard]] std::uint64_t reread_bytes() const { return job_.reread && !output_->facts().is_stream ? output_bytes() : 0; }

  [[nodiscard]] std::uint64_t output_bytes() const { return plan_.wanted.input_records * encoder_.record_size(); }

  [[nodiscard]] std::uint64_t formation_bytes() const {
    return plan_.wanted.size_unknown ? 0 : plan_.wanted.input_records * encoder_.record_size() + plan_.run_bytes;
  }

  SortJob& job_;
  io::Storage& storage_;
  Progress& progress_;
  PhaseLog& log_;
  planner::Plan plan_;
  records::Encoder encoder_;
  MemoryBudget memory_;
  io::Reactor reactor_;
  Compute compute_;
  SortReport report_;
  std::optional<RecordRuns> store_;
  std::optional<ReadAhead> reader_;
  std::optional<FormRuns> former_;
  FormedRuns runs_;
  std::vector<MergeInput> sources_;
  io::FilePtr output_;
  std::uint64_t output_reserved_ = 0;
  std::optional<WriteBehind> writer_;
  std::optional<MergeResident> resident_;
  std::vector<std::unique_ptr<MergeRuns>> merges_;
  MergedOutput merged_;
  std::optional<Reread> rereader_;
  TaskGroup main_;
};

}  // namespace

SortReport sort(SortJob& job, io::Storage& storage, io::Queue& queue, Progress& progress, PhaseLog& log,
                const std::atomic<int>& interrupted) {
  auto sorter = std::make_unique<Sorter>(job, storage, queue, progress, log);
  try {
    return sorter->run(interrupted);
  } catch (const io::QueueBroken&) {
    (void)sorter.release();  // the system may still use its buffers: they live as long as the process
    throw;
  }
}

}  // namespace ecosort::engine
