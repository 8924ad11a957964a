#include "demsort_inplace/inplace_sort.h"

#include <utility>

#include "demsort_inplace/finish.h"
#include "demsort_inplace/first_phase.h"
#include "demsort_inplace/form_pieces.h"
#include "demsort_inplace/inplace_files.h"
#include "demsort_inplace/put_back.h"
#include "demsort_inplace/recheck.h"
#include "demsort_inplace/resumable_sort.h"
#include "demsort_inplace/second_phase.h"
#include "demsort_inplace/take_file.h"

namespace ecosort::inplace {

namespace {

class InPlaceSort {
 public:
  explicit InPlaceSort(Workbench& bench) : bench_(bench), layout_(bench.layout) {}

  engine::SortReport start(io::FilePtr input) {
    bench_.files.input = std::move(input);
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
    sync_names(bench_);
    bench_.end();
    co_await sort();
  }

  Task<void> open_and_sort() {
    begin_recheck(bench_, recheck_bytes(bench_, false));
    co_await open_files(bench_, false);
    bench_.end();
    co_await sort();
  }

  // Creates every file that the job will need, takes all the space, and makes both durable, before FILE is touched.
  Task<void> prepare() {
    const io::FileState before = bench_.storage.state(*bench_.files.input);
    co_await create_journal(bench_);
    for (std::uint64_t run = 0; run < layout_.runs(); ++run)
      bench_.files.runs.push_back(
          bench_.storage.create_named(bench_.paths.run(run), io::Role::run, io::Caching::direct_if_possible));
    co_await take_space(bench_, layout_.extra_bytes());
    take_file(bench_, *bench_.files.input, before, layout_.bytes());
  }

  Task<void> sort() {
    if (bench_.done.size() < layout_.runs()) co_await form_pieces();
    bench_.storage.set_size(*bench_.files.spare, 0);
    State end = co_await merge(bench_);
    if (bench_.header.reread) co_await reread(bench_, end);
    co_await complete(bench_, *bench_.files.output, std::move(end), State::Kind::merged);
  }

  Task<void> form_pieces() {
    FormPieces keeper(bench_);
    bench_.inputs.resize(1);
    bench_.inputs.front() = {std::move(bench_.files.input), layout_.records, {}};
    co_await form_runs(bench_, keeper);
    bench_.files.input = std::move(bench_.inputs.front().file);
  }

  Workbench& bench_;
  const Layout& layout_;
};

}  // namespace

engine::SortReport start(const std::string& path, io::FilePtr input, const JobHeader& header, const planner::Plan& plan,
                         const Environment& environment) {
  return on_bench(path, header, plan, environment, [&](Workbench& bench) { return InPlaceSort(bench).start(std::move(input)); });
}

engine::SortReport resume(const std::string& path, JobStatus status, const planner::Plan& plan, const Environment& environment) {
  if (status.is_abandoned()) return abandon(path, std::move(status), plan, environment);
  const JobHeader header = status.contents->header;
  return on_bench(path, header, plan, environment, [&](Workbench& bench) {
    const bool is_resumable_sort = status.is_of(JobHeader::Kind::resumable_sort);
    bench.take(std::move(status));
    return is_resumable_sort ? go_on_with_sort(bench) : InPlaceSort(bench).resume();
  });
}

engine::SortReport abandon(const std::string& path, JobStatus status, const planner::Plan& plan, const Environment& environment) {
  const JobHeader header = status.contents->header;
  return on_bench(path, header, plan, environment, [&](Workbench& bench) {
    const bool is_resumable_sort = status.is_of(JobHeader::Kind::resumable_sort);
    bench.take(std::move(status));
    return is_resumable_sort ? remove_sort(bench) : put_back(bench);
  });
}

}  // namespace ecosort::inplace
