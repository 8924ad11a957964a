#include "demsort_inplace/resumable_sort.h"

#include <fmt/format.h>

#include <utility>

#include "base/errors.h"
#include "demsort_inplace/finish.h"
#include "demsort_inplace/first_phase.h"
#include "demsort_inplace/keep_runs.h"
#include "demsort_inplace/recheck.h"
#include "demsort_inplace/second_phase.h"

namespace ecosort::inplace {

namespace {

class ResumableSort {
 public:
  explicit ResumableSort(Workbench& bench) : bench_(bench), layout_(bench.layout) {}

  engine::SortReport start(std::vector<engine::Input> inputs) {
    bench_.inputs = std::move(inputs);
    bench_.run(begin_and_sort());
    return publish_result(bench_, bench_.paths.output);
  }

  engine::SortReport resume() {
    bench_.plan_sort(recheck_bytes(bench_, false));
    bench_.run(bench_.is_complete ? recheck_complete(bench_, bench_.paths.output, false) : open_and_sort());
    return publish_result(bench_, bench_.paths.output);
  }

 private:
  Task<void> begin_and_sort() {
    bench_.plan_sort(0);
    bench_.begin("prepare", engine::Phase::starting, 0);
    try {
      co_await prepare();
    } catch (...) {
      discard_preparation(bench_);
      throw;
    }
    bench_.end();
    co_await sort();
  }

  // All names are durable, and a journal says what they mean, before there is anything in the files.
  Task<void> prepare() {
    co_await create_journal(bench_);
    for (std::uint64_t run = 0; run < layout_.runs(); ++run)
      bench_.files.runs.push_back(bench_.storage.create_named(bench_.paths.run(run), io::Role::run, direct));
    bench_.files.output = bench_.storage.create_named(bench_.paths.output, io::Role::output, direct);
    bench_.storage.sync_directory(bench_.paths.directory);
    bench_.storage.sync_directory(bench_.paths.parent);
    co_await reserve_space();
  }

  Task<void> open_and_sort() {
    begin_recheck(bench_, recheck_bytes(bench_, false));
    co_await open_journal(bench_);
    open_inputs();
    open_files();
    co_await cut_files();
    co_await reserve_space();
    bench_.end();
    co_await sort();
  }

  // Once every record is in a run, an input that is gone is not missed; another one under its name would be taken for the one
  // that was sorted.
  void open_inputs() {
    const bool are_needed = bench_.done.size() < layout_.runs();
    for (const InputIdentity& then : bench_.header.inputs) {
      if (!are_needed && !bench_.storage.exists(then.path)) continue;
      engine::Input input;
      input.file = bench_.storage.open_input(then.path, direct);
      input.records = then.size_bytes / layout_.record_size;
      check_same_input(bench_.storage.state(*input.file), then, bench_.paths);
      bench_.inputs.push_back(std::move(input));
    }
    if (!are_needed) bench_.inputs.clear();
  }

  // Names that the journal does not speak of yet may have been lost.
  void open_files() {
    io::NamedStorage& storage = bench_.storage;
    bool has_new = false;
    const auto open_or_create = [&](const std::string& path, io::Role role) {
      if (storage.exists(path)) return storage.open_named(path, role, direct);
      has_new = true;
      return storage.create_named(path, role, direct);
    };
    for (std::uint64_t run = 0; run < layout_.runs(); ++run) {
      const std::string path = bench_.paths.run(run);
      const bool is_done = run < bench_.done.size();
      bench_.files.runs.push_back(is_done ? storage.open_named(path, io::Role::run, direct)
                                          : open_or_create(path, io::Role::run));
    }
    const std::string& path = bench_.paths.output;
    bench_.files.output =
        bench_.state ? storage.open_named(path, io::Role::output, direct) : open_or_create(path, io::Role::output);
    if (has_new) storage.sync_directory(bench_.paths.directory);
  }

  // Brings every file to the length that the journal gives it, once it is certain that they are what it speaks of.
  Task<void> cut_files() {
    const std::uint64_t output = bench_.state ? round_up(bench_.state->records * layout_.record_size, layout_.unit) : 0;
    for (std::uint64_t run = 0; run < layout_.runs(); ++run)
      check_length(bench_, *bench_.files.runs[run], bench_.durable_run_bytes(run));
    check_length(bench_, *bench_.files.output, output);
    if (bench_.state) co_await recheck(bench_, *bench_.files.output, false);
    for (std::uint64_t run = 0; run < layout_.runs(); ++run) cut(bench_, *bench_.files.runs[run], bench_.durable_run_bytes(run));
    cut(bench_, *bench_.files.output, output);
  }

  // All that the job will need, so that no one else can take it an hour later (promise P10). Checkpoints reserve the rest of the
  // output's from what the runs give back.
  Task<void> reserve_space() {
    for (std::uint64_t run = bench_.done.size(); run < layout_.runs(); ++run)
      (void)co_await bench_.reactor.reserve(*bench_.files.runs[run], 0, layout_.run_file_bytes(run, 0));
    if (!bench_.state) co_await reserve_output_room(bench_);
  }

  Task<void> sort() {
    if (bench_.done.size() < layout_.runs()) {
      KeepRuns keeper(bench_);
      co_await form_runs(bench_, keeper);
      bench_.inputs.clear();
    }
    State end = co_await merge(bench_);
    if (bench_.header.reread) co_await reread(bench_, end);
    co_await complete(bench_, *bench_.files.output, std::move(end), State::Kind::merged);
  }

  Workbench& bench_;
  const Layout& layout_;
};

}  // namespace

std::vector<InputIdentity> identities(const std::vector<engine::Input>& inputs) {
  std::vector<InputIdentity> identities;
  identities.reserve(inputs.size());
  for (const engine::Input& input : inputs) identities.push_back(identity_of(*input.file, input.opened));
  return identities;
}

engine::SortReport start_resumable(const std::string& output, std::vector<engine::Input> inputs, const JobHeader& header,
                                   const planner::Plan& plan, const Environment& environment) {
  return on_bench(output, header, plan, environment,
                  [&](Workbench& bench) { return ResumableSort(bench).start(std::move(inputs)); });
}

engine::SortReport go_on_with_sort(Workbench& bench) { return ResumableSort(bench).resume(); }

engine::SortReport remove_sort(Workbench& bench) {
  remove_job(bench);
  bench.report.plan = bench.plan;
  bench.report.records = bench.layout.records;
  bench.report.input_bytes = bench.layout.bytes();
  bench.report.traffic = bench.reactor.traffic();
  bench.report.notices = bench.notices;
  return std::move(bench.report);
}

}  // namespace ecosort::inplace
