#include "demsort_inplace/records_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "demsort_inplace/durable_job.h"
#include "demsort_inplace/input_identity.h"
#include "demsort_inplace/keep_runs.h"
#include "demsort_inplace/put_back.h"
#include "demsort_inplace/recheck.h"
#include "demsort_inplace/record_files.h"
#include "demsort_inplace/second_phase.h"
#include "demsort_inplace/take_file.h"
#include "engine/fixed/reread.h"

namespace ecosort::demsort_inplace {

namespace {

class RecordsKernel : public JobKernel {
 public:
  explicit RecordsKernel(Workbench& bench)
      : JobKernel(bench, bench.paths.output, State::Kind::merged),
        bench_(bench),
        layout_(bench.layout),
        is_in_place_(bench.header.is_in_place()) {}

  void plan_progress(std::uint64_t recheck) override { bench_.plan_sort(recheck); }

  // All names are durable, all space is taken, and a journal says what they mean, before there is anything in the files and
  // before FILE is touched.
  Task<void> create() override {
    const io::FileState before = is_in_place_ ? bench_.storage.state(*bench_.files.input) : io::FileState{};
    co_await create_journal(bench_);
    for (std::uint64_t run = 0; run < layout_.runs(); ++run)
      bench_.files.runs.push_back(bench_.storage.create_named(bench_.paths.run(run), io::Role::run, direct));
    if (is_in_place_) {
      co_await take_space(bench_, layout_.extra_bytes());
      take_file(bench_, *bench_.files.input, before, layout_.bytes());
      co_return;
    }
    bench_.files.output = bench_.storage.create_named(bench_.paths.output, io::Role::output, direct);
    sync_names(bench_);
    co_await reserve_space();
  }

  void sync_taken() override {
    if (is_in_place_) sync_names(bench_);
  }

  Task<void> open() override {
    co_await open_files(bench_, false);
    if (!is_in_place_) co_await reserve_space();
  }

  Task<void> recheck(const io::File& file) override { return demsort_inplace::recheck(bench_, file, false); }
  [[nodiscard]] std::uint64_t recheck_bytes() const override { return demsort_inplace::recheck_bytes(bench_, false); }

  [[nodiscard]] bool is_formed() const override { return bench_.done.size() == layout_.runs(); }
  Task<void> form() override {
    if (is_in_place_) bench_.inputs.push_back({std::move(bench_.files.input), layout_.records, {}});
    co_await form_runs(bench_);
    if (is_in_place_) bench_.files.input = std::move(bench_.inputs.front().file);
    bench_.inputs.clear();
  }

  Task<State> merge() override {
    if (is_in_place_) bench_.storage.set_size(*bench_.files.spare, 0);
    State state = co_await demsort_inplace::merge(bench_);
    bench_.store.reset();
    verify(bench_, state);
    co_return state;
  }

  [[nodiscard]] std::uint64_t reread_bytes(const State& /*state*/) const override {
    return bench_.header.reread ? layout_.bytes() : 0;
  }

  Task<void> reread(const State& state) override {
    engine::fixed::Reread rereader(bench_, bench_.encoder, file(), {0, layout_.records}, bench_.plan.formation.read_block_bytes);
    rereader.stop_for(bench_.interrupted);
    co_await rereader.run();
    if (rereader.tally().hash != state.hash || !rereader.in_order()) refuse_reread(bench_);
  }

  [[nodiscard]] std::uint64_t result_bytes(const State& /*state*/) const override { return layout_.bytes(); }

 private:
  // All that the job will need, so that no one else can take it an hour later (promise P10). Checkpoints reserve the rest of the
  // output's from what the runs give back.
  Task<void> reserve_space() {
    for (std::uint64_t run = bench_.done.size(); run < layout_.runs(); ++run)
      (void)co_await bench_.reactor.reserve(*bench_.files.runs[run], 0, layout_.run_file_bytes(run, 0));
    if (!bench_.state) co_await reserve_output_room(bench_);
  }

  Workbench& bench_;
  const Layout& layout_;
  const bool is_in_place_;
};

// Most of all runs at a time. Packed ones may have taken more than was promised where less was promised than they may take.
std::uint64_t peak_run_bytes(const Workbench& bench) {
  std::uint64_t used = 0;
  if (bench.layout.packs && bench.layout.keeps_runs)
    for (std::uint64_t run = 0; run < bench.layout.runs(); ++run) used += bench.durable_run_bytes(run);
  return std::max(bench.layout.all_run_bytes(), used);
}

engine::fixed::SortReport report_of(Workbench& bench) {
  engine::fixed::SortReport& report = bench.report;
  report.plan = bench.plan;
  report.records = bench.layout.records;
  report.input_bytes = bench.layout.bytes();
  report.traffic = bench.reactor.traffic();
  report.notices.insert(report.notices.end(), bench.notices.begin(), bench.notices.end());
  return std::move(report);
}

engine::fixed::SortReport report_of_sort(Workbench& bench) {
  engine::fixed::SortReport& report = bench.report;
  for (const RunDone& done : bench.done) {
    report.hash += done.tally.hash;
    report.checksum += done.tally.checksum;
  }
  report.output_bytes = bench.layout.bytes();
  const bool is_in_place = bench.header.is_in_place();
  report.peak_temp_bytes = (is_in_place ? bench.layout.extra_bytes() : peak_run_bytes(bench)) + Journal::size_bytes(bench.header);
  report.peak_memory_bytes = bench.memory.peak_bytes();
  report.runs = bench.layout.runs();
  if (bench.packer && bench.packer->report().blocks > 0) report.run_packing = bench.packer->report();
  return report_of(bench);
}

}  // namespace

std::vector<InputIdentity> identities(const std::vector<engine::fixed::Input>& inputs) {
  std::vector<InputIdentity> identities;
  identities.reserve(inputs.size());
  for (const engine::fixed::Input& input : inputs) identities.push_back(identity_of(*input.file, input.opened));
  return identities;
}

engine::fixed::SortReport start(const std::string& path, std::vector<engine::fixed::Input> inputs, const JobHeader& header,
                                const planner::RecordPlan& plan, const JobContext& environment) {
  return work_on_bench<Workbench>(path, header, plan, environment, [&](Workbench& bench) {
    if (header.is_in_place())
      bench.files.input = std::move(inputs.front().file);
    else
      bench.inputs = std::move(inputs);
    RecordsKernel kernel(bench);
    begin_job(kernel);
    return report_of_sort(bench);
  });
}

engine::fixed::SortReport resume(const std::string& path, JobStatus status, const planner::RecordPlan& plan,
                                 const JobContext& environment) {
  if (status.is_abandoned()) return abandon(path, std::move(status), plan, environment);
  const JobHeader header = status.contents->header;
  return work_on_bench<Workbench>(path, header, plan, environment, [&](Workbench& bench) {
    bench.take(std::move(status));
    RecordsKernel kernel(bench);
    continue_job(kernel);
    return report_of_sort(bench);
  });
}

engine::fixed::SortReport abandon(const std::string& path, JobStatus status, const planner::RecordPlan& plan,
                                  const JobContext& environment) {
  const JobHeader header = status.contents->header;
  return work_on_bench<Workbench>(path, header, plan, environment, [&](Workbench& bench) {
    bench.take(std::move(status));
    if (!header.is_in_place()) {
      remove_job(bench);
      return report_of(bench);
    }
    put_back(bench);
    return report_of_sort(bench);
  });
}

}  // namespace ecosort::demsort_inplace
