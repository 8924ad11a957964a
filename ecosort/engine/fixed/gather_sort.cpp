#include "engine/fixed/gather_sort.h"

#include <optional>

#include "engine/driver.h"
#include "engine/fixed/checked_output.h"
#include "engine/fixed/gather_records.h"
#include "engine/fixed/reread.h"
#include "engine/fixed/write_behind.h"

namespace ecosort::engine::fixed {

namespace {

// Members are declared in the order in which they may be used; what computes or waits dies before what it uses.
class GatherKernel final : public Kernel {
 public:
  GatherKernel(SortJob& job, Bench& bench)
      : job_(job),
        bench_(bench),
        encoder_(job.plan.wanted.format),
        gatherer_(std::in_place, bench, job.plan, encoder_, job.inputs) {}

  static BenchSize size_of(const SortJob& job) {
    const planner::RecordPlan& plan = job.plan;
    return {plan.wanted.memory_bytes, plan.wanted.threads, plan.read_depth, plan.write_depth};
  }

  [[nodiscard]] const char* items() const noexcept override { return "records"; }
  [[nodiscard]] std::uint64_t most_output_bytes() const override { return output_bytes(); }

  std::optional<Step> open(io::File& output) override {
    output_ = &output;
    bench_.memory.count_elsewhere(div_up(job_.plan.wanted.input_records, 8));
    const unsigned phases = 2U + (rereads() ? 1U : 0U);
    bench_.progress.plan_job(phases, key_bytes() + 2 * output_bytes() + (rereads() ? output_bytes() : 0), 0);
    return Step{"read_keys", key_bytes(), key_bytes()};
  }

  Task<void> form_runs() override {
    reserve_output();
    co_await gatherer_->read_keys();
    co_await gatherer_->sort_keys();
    bench_.compute.use(job_.plan.wanted.threads_of_merge());
  }

  [[nodiscard]] bool reads_inputs_again() const override { return true; }

  std::string check_inputs() override {
    for (const Input& input : job_.inputs) check_unchanged(bench_.storage, input);
    return "";
  }

  std::optional<Step> next_group() override { return std::nullopt; }
  Task<void> merge_group() override { co_return; }
  std::optional<Step> last_merge() override { return Step{"gather", output_bytes(), 2 * output_bytes()}; }

  Task<void> merge_to_output() override {
    const OutputTerms terms{.total_bytes = written_bytes(),
                            .reserve_bytes = job_.plan.merge.reserve_bytes,
                            .reserved_bytes = output_reserved_,
                            .request_bytes = job_.plan.wanted.requests.output_bytes};
    writer_.emplace(bench_, *output_, job_.plan.merge.final, terms, nullptr);
    CheckedOutput output(*writer_, bench_.compute, encoder_, job_.groups);
    co_await output.put_head(job_.head);
    co_await gatherer_->gather_to_output(output);
    merged_ = output.merged();
    tally_ = gatherer_->tally();
  }

  [[nodiscard]] Proof proof() const override { return {tally_.hash, merged_.tally.hash, job_.plan.wanted.input_records}; }
  Task<void> complete_output() override { co_return; }  // what wrote the last batch did
  [[nodiscard]] OutputContents contents() const override {
    return {merged_.tally.hash.count, written_bytes(), merged_.tally.hash};
  }

  [[nodiscard]] std::uint64_t written_bytes() const override { return job_.head.size() + output_bytes(); }

  Task<bool> reread() override {
    writer_.reset();
    gatherer_.reset();
    rereader_.emplace(bench_, encoder_, *output_, RecordRange{0, merged_.tally.hash.count, job_.head.size()},
                      job_.plan.formation.read_block_bytes);
    co_await rereader_->run();
    co_return rereader_->tally().hash == merged_.tally.hash && rereader_->in_order();
  }

  WorkReport& sum_up() override {
    report.plan = job_.plan;
    report.records = tally_.hash.count;
    report.input_bytes = output_bytes();
    report.output_bytes = written_bytes();
    report.hash = tally_.hash;
    report.equal_pairs = merged_.equal_pairs;
    return report;
  }

  SortReport report;

 private:
  [[nodiscard]] bool rereads() const { return job_.reread && !output_->facts().is_stream; }
  [[nodiscard]] std::uint64_t output_bytes() const { return job_.plan.wanted.input_records * encoder_.record_size(); }
  [[nodiscard]] std::uint64_t key_bytes() const {
    return job_.plan.wanted.input_records * (job_.plan.gathering.end - job_.plan.gathering.begin);
  }

  // Before hours of work (promise P10).
  void reserve_output() {
    if (output_->facts().is_stream) return;
    const std::uint64_t bytes = round_up(written_bytes(), page_bytes);  // writes end at whole units
    if (bench_.storage.reserve_patiently(*output_, 0, bytes)) output_reserved_ = bytes;
  }

  SortJob& job_;
  Bench& bench_;
  records::Encoder encoder_;
  std::optional<GatherRecords> gatherer_;
  io::File* output_ = nullptr;
  std::uint64_t output_reserved_ = 0;
  std::optional<WriteBehind> writer_;
  MergedOutput merged_;
  Tally tally_;
  std::optional<Reread> rereader_;
};

}  // namespace

SortReport gather_sort(SortJob& job, const Environment& environment) { return drive<GatherKernel>(job, environment); }

}  // namespace ecosort::engine::fixed
