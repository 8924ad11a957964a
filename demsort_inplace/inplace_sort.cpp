#include "demsort_inplace/inplace_sort.h"

#include <fmt/format.h>

#include <utility>

#include "base/errors.h"
#include "demsort_inplace/finish.h"
#include "demsort_inplace/first_phase.h"
#include "demsort_inplace/form_pieces.h"
#include "demsort_inplace/inplace_files.h"
#include "demsort_inplace/put_back.h"
#include "demsort_inplace/recheck.h"
#include "demsort_inplace/resumable_sort.h"
#include "demsort_inplace/second_phase.h"

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
    bench_.run(bench_.is_complete ? recheck_complete(bench_, bench_.paths.output, false) : open_and_sort());
    return publish_result(bench_, bench_.paths.output);
  }

 private:
  Task<void> begin_and_sort() {
    bench_.begin("prepare", engine::Phase::starting, 0);
    try {
      co_await prepare();
      take_file();
    } catch (...) {
      discard_preparation(bench_);
      throw;
    }
    bench_.storage.sync_directory(bench_.paths.directory);
    bench_.storage.sync_directory(bench_.paths.parent);
    bench_.end();
    co_await sort();
  }

  Task<void> open_and_sort() {
    co_await open_files(bench_, false);
    co_await sort();
  }

  // Creates every file that the job will need, takes all the space, and makes both durable, before FILE is touched.
  Task<void> prepare() {
    io::NamedStorage& storage = bench_.storage;
    JobFiles& files = bench_.files;
    const io::FileState before = storage.state(*files.input);
    co_await create_journal(bench_);
    for (std::uint64_t run = 0; run < layout_.runs(); ++run)
      files.runs.push_back(storage.create_named(bench_.paths.run(run), io::Role::run, io::Caching::direct_if_possible));
    files.output = storage.create_named(bench_.paths.output, io::Role::output, io::Caching::direct_if_possible);
    co_await check_unit();
    files.spare = storage.create_named(bench_.paths.spare, io::Role::run, io::Caching::buffered);
    if (!co_await bench_.reactor.reserve(*files.spare, 0, layout_.extra_bytes()))
      throw UsageError(fmt::format("'{}' cannot be sorted in place: its file system cannot reserve the space; use ecosort sort",
                                   bench_.paths.file));
    storage.sync_directory(bench_.paths.directory);
    storage.sync_directory(bench_.paths.parent);
    const io::FileState now = storage.state(*files.input);
    if (before.size_bytes != layout_.bytes() || now.size_bytes != before.size_bytes || now.modified_ns != before.modified_ns)
      throw IoError(fmt::format("'{}' is being written to; sort it when no one does", bench_.paths.file));
    found_ = now;
  }

  // A file that is given one unit takes no more: all lengths and the space bound count in these.
  Task<void> check_unit() {
    io::File& file = *bench_.files.output;
    (void)co_await bench_.reactor.reserve(file, 0, layout_.unit);
    const std::uint64_t taken = bench_.storage.state(file).allocated_bytes;
    bench_.storage.set_size(file, 0);
    if (taken > layout_.unit)
      throw UsageError(fmt::format(
          "'{}' cannot be sorted in place: its file system gives out more space than is asked for ({} bytes instead of {}: "
          "clusters, or an extent size hint); use ecosort sort",
          bench_.paths.file, taken, layout_.unit));
  }

  // What stood under the name by then must be the file that was found fit.
  void take_file() {
    io::NamedStorage& storage = bench_.storage;
    check_directory(storage, bench_.paths, *bench_.files.directory);
    storage.rename_new(bench_.paths.file, bench_.paths.input);
    const io::FilePtr taken = storage.open_named(bench_.paths.input, io::Role::input, io::Caching::buffered);
    const io::FileState now = storage.state(*taken);
    if (now.inode == found_.inode && now.size_bytes == found_.size_bytes && now.modified_ns == found_.modified_ns) return;
    storage.rename_new(bench_.paths.input, bench_.paths.file);
    throw IoError(fmt::format("'{}' was replaced or written to just now; start again when no one does", bench_.paths.file));
  }

  Task<void> sort() {
    co_await adopt_runs(bench_);
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
  io::FileState found_;  // of the input, before it got another name
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
