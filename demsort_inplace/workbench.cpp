#include "demsort_inplace/workbench.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "demsort_inplace/job_trust.h"

namespace ecosort::inplace {

Workbench::Workbench(const std::string& path, const JobHeader& job_header, const planner::Plan& engine,
                     const Environment& environment)
    : paths(path),
      header(job_header),
      layout(header.layout),
      plan(engine),
      storage(environment.storage),
      progress(environment.progress),
      log(environment.log),
      interrupted(environment.interrupted),
      trusts_drive(environment.trusts_drive),
      encoder(header.format),
      memory(plan.wanted.memory_bytes),
      reactor(environment.queue, plan.read_depth, plan.write_depth),
      compute(reactor, plan.wanted.threads),
      main(reactor.scope()) {
  reactor.wait_with(storage);
}

void Workbench::run(Task<void> task) {
  main.spawn(std::move(task));
  const std::atomic<int> nothing = 0;
  reactor.run(main, nothing);
}

void Workbench::take(JobStatus status) {
  files.directory = std::move(status.directory);
  files.journal = std::move(status.journal);
  is_complete = status.kind == JobStatus::Kind::complete;
  done = status.contents->runs;
  state = status.contents->state;
}

void Workbench::begin(const char* name, engine::Phase phase, std::uint64_t bytes) {
  log.begin(name, reactor.traffic());
  const std::uint64_t share = begin_of_job(phase, bytes);
  progress.begin(phase, bytes, share);
}

// Where the job stands by then, whoever did what is done; returns what this phase reads and writes.
std::uint64_t Workbench::begin_of_job(engine::Phase phase, std::uint64_t bytes) {
  const std::uint64_t formation = layout.bytes() + layout.all_run_bytes(), merge = 2 * layout.bytes();
  const std::uint64_t all = formation + merge + (header.reread ? layout.bytes() : 0);
  const unsigned phases = header.reread ? 3 : 2;
  switch (phase) {
    case engine::Phase::run_formation:
      progress.plan_job(phases, all, formation - std::min(formation, bytes));
      progress.skip_phases(0);
      return bytes;
    case engine::Phase::merge:
      progress.plan_job(phases, all, formation + merge - std::min(merge, 2 * bytes));
      progress.skip_phases(1);
      return 2 * bytes;
    case engine::Phase::reread:
      progress.plan_job(phases, all, formation + merge);
      progress.skip_phases(2);
      return bytes;
    case engine::Phase::put_back:
      progress.plan_job(1, 2 * bytes);
      return 2 * bytes;
    default:
      return 0;
  }
}

void Workbench::end() { log.end(reactor.traffic()); }

Task<void> open_journal(Workbench& bench) {
  bench.journal.emplace(bench.reactor, *bench.files.journal);
  (void)co_await bench.journal->open();
  bench.storage.sync_directory(bench.paths.directory);
  bench.storage.sync_directory(bench.paths.parent);
}

namespace {

// Until it is locked others may take it for what a kill left, and remove it, or even begin a job in it.
void make_job_directory(Workbench& bench) {
  bench.storage.make_directory(bench.paths.directory);
  io::FilePtr directory = lock_directory(bench.storage, bench.paths);
  if (!directory || !bench.storage.list(bench.paths.directory).empty())
    throw JobRefused(fmt::format("another process is working on a job of '{}'; nothing was changed", bench.paths.file));
  bench.files.directory = std::move(directory);
  check_trust(bench.storage, bench.paths, *bench.files.directory, {});
}

}  // namespace

Task<void> create_journal(Workbench& bench) {
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

void discard_preparation(Workbench& bench) noexcept {
  try {
    if (bench.files.directory) clean_up(bench.storage, bench.paths, *bench.files.directory, {});
  } catch (const std::exception&) {  // `resume` cleans up what is left
  }
}

void check_length(Workbench& bench, const io::File& file, std::uint64_t size) {
  if (const std::uint64_t present = bench.storage.state(file).size_bytes; present < size)
    throw IoError(
        fmt::format("'{}' has {} bytes, {} are needed: it was changed, or the drive lost a part of it or of the journal",
                    file.path(), present, size));
}

void cut(Workbench& bench, io::File& file, std::uint64_t size) {
  check_length(bench, file, size);
  if (bench.storage.state(file).size_bytes > size) bench.storage.set_size(file, size);
}

Task<std::vector<std::byte>> read_bytes(Workbench& bench, const io::File& file, std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t from = round_down(begin, bench.layout.unit), size = round_up(end, bench.layout.unit) - from;
  const Buffer memory = bench.memory.allocate(size, "a few bytes of a file");
  co_await bench.reactor.read(file, from, memory.data(), size, end - from);
  const std::byte* const bytes = memory.data();
  co_return std::vector<std::byte>(bytes + (begin - from), bytes + (end - from));
}

}  // namespace ecosort::inplace
