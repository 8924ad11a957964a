#include "demsort_inplace/job_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "demsort_inplace/job_trust.h"

namespace ecosort::demsort_inplace {

JobBench::JobBench(const std::string& path, const JobHeader& job_header, const engine::BenchSize& size,
                   const JobContext& environment)
    : Bench(environment.for_engine(), size),
      paths(path),
      header(job_header),
      storage(environment.storage),
      trusts_drive(environment.trusts_drive),
      only_completes(environment.only_completes),
      main(reactor.scope()) {}

void JobBench::run(Task<void> task) {
  main.spawn(std::move(task));
  const std::atomic<int> nothing = 0;
  reactor.run(main, nothing);
}

void JobBench::take(JobStatus status) {
  files.directory = std::move(status.directory);
  files.journal = std::move(status.journal);
  is_complete = status.kind == JobStatus::Kind::complete;
  done = status.contents->runs;
  state = status.contents->state;
}

Task<void> open_journal(JobBench& bench) {
  bench.journal.emplace(bench.reactor, *bench.files.journal);
  (void)co_await bench.journal->open();
  bench.storage.sync_directory(bench.paths.directory);
  bench.storage.sync_directory(bench.paths.parent);
}

void begin_recheck(JobBench& bench, std::uint64_t bytes) {
  bench.begin(bytes == 0 ? "prepare" : "recheck", bytes == 0 ? engine::Phase::starting : engine::Phase::recheck, bytes, bytes);
}

namespace {

// Until it is locked others may take it for what a kill left, and remove it, or even begin a job in it.
void make_job_directory(JobBench& bench) {
  bench.storage.make_directory(bench.paths.directory);
  io::FilePtr directory = lock_directory(bench.storage, bench.paths);
  if (!directory || !bench.storage.list(bench.paths.directory).empty())
    throw JobRefused(fmt::format("another process is working on a job of '{}'; nothing was changed", bench.paths.file));
  bench.files.directory = std::move(directory);
  check_own_directory(bench.storage, bench.paths, *bench.files.directory);
}

}  // namespace

Task<void> create_journal(JobBench& bench) {
  if (bench.storage.exists(bench.paths.trace)) {  // of an earlier job; beside a new directory it would mean something else
    remove_if_there(bench.storage, bench.paths.trace);
    bench.storage.sync_directory(bench.paths.parent);
  }
  make_job_directory(bench);
  bench.files.journal = bench.storage.create_named(bench.paths.journal, io::Role::journal, io::Caching::direct_if_possible);
  lock_journal(*bench.files.journal, bench.paths);
  (void)co_await bench.reactor.reserve(*bench.files.journal, 0, Journal::size_bytes(bench.header));
  bench.journal.emplace(bench.reactor, *bench.files.journal);
  co_await bench.journal->create(bench.header);
}

void close_files(JobBench& bench) noexcept {
  bench.journal.reset();
  JobFiles& files = bench.files;
  for (io::FilePtr* const file : {&files.journal, &files.input, &files.output, &files.spare}) file->reset();
  files.runs.clear();
}

void discard_preparation(JobBench& bench) noexcept {
  try {
    close_files(bench);
    if (bench.files.directory) clean_up(bench.storage, bench.paths, *bench.files.directory, {});
  } catch (const std::exception&) {  // `resume` cleans up what is left
  }
}

io::FilePtr open_or_create(JobBench& bench, const std::string& path, io::Role role, io::Caching caching) {
  return bench.storage.exists(path) ? bench.storage.open_named(path, role, caching)
                                    : bench.storage.create_named(path, role, caching);
}

io::FilePtr open_file_of_job(JobBench& bench, const std::string& path, io::Role role, bool is_needed) {
  if (is_needed && !bench.takes_what_is_there && !bench.storage.exists(path))
    throw DamagedRun(fmt::format("'{}' is missing: it was removed, or the drive lost it", path));
  return open_or_create(bench, path, role, direct);
}

// Its owner, mode and attributes are those of the result.
io::FilePtr open_input_in_place(JobBench& bench, io::Role role, bool is_needed) {
  const bool is_there = bench.storage.exists(bench.paths.input);
  io::FilePtr file = open_file_of_job(bench, bench.paths.input, role, is_needed);
  if (!is_there)
    bench.notices.push_back(fmt::format("'{}' was missing, and with it the owner, the mode and the attributes of '{}': set them",
                                        bench.paths.input, bench.paths.file));
  return file;
}

void check_length(JobBench& bench, io::File& file, std::uint64_t size) {
  const std::uint64_t present = bench.storage.state(file).size_bytes;
  if (present >= size) return;
  if (!bench.takes_what_is_there)
    throw DamagedRun(
        fmt::format("'{}' has {} bytes, {} are needed: it was changed, or the drive lost a part of it or of the journal",
                    file.path(), present, size));
  bench.storage.set_size(file, size);
  bench.notices.push_back(fmt::format("'{}' has {} bytes, {} are needed: zeros are in place of the rest in '{}'", file.path(),
                                      present, size, bench.paths.file));
}

void cut(JobBench& bench, io::File& file, std::uint64_t size) {
  check_length(bench, file, size);
  if (bench.storage.state(file).size_bytes > size) bench.storage.set_size(file, size);
}

void remove_other_runs(JobBench& bench, const std::vector<std::uint64_t>& known) {
  for (const std::string& name : bench.storage.list(bench.paths.directory)) {
    const auto is_its = [&](std::uint64_t run) { return bench.paths.run(run).ends_with('/' + name); };
    if (name.starts_with("run-") && is_name_of_job(name) && std::ranges::none_of(known, is_its))
      bench.storage.remove(bench.paths.directory + "/" + name);
  }
}

Task<std::vector<std::byte>> read_bytes(JobBench& bench, const io::File& file, std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t from = round_down(begin, bench.header.layout.unit), size = round_up(end, bench.header.layout.unit) - from;
  const Buffer memory = bench.memory.allocate(size, "a few bytes of a file");
  co_await bench.reactor.read(file, from, memory.data(), size, end - from);
  const std::byte* const bytes = memory.data();
  co_return std::vector<std::byte>(bytes + (begin - from), bytes + (end - from));
}

void tell_unreadable(JobBench& bench, const run::RunStore& store) {
  if (store.unreadable_bytes() > 0)
    bench.notices.push_back(fmt::format("{} bytes of the runs could not be read: zeros are in their place in '{}'",
                                        store.unreadable_bytes(), bench.paths.file));
}

}  // namespace ecosort::demsort_inplace
