#include "demsort_inplace/workbench.h"

#include <fmt/format.h>

#include <utility>

#include "base/errors.h"

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
      encoder(header.format),
      memory(plan.wanted.memory_bytes),
      reactor(environment.queue, plan.read_depth, plan.write_depth),
      compute(reactor, plan.wanted.threads),
      main(reactor.gate()) {}

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

void Workbench::begin(const char* name, pipeline::Phase phase, std::uint64_t bytes) {
  log.begin(name, reactor.traffic());
  progress.begin(phase, bytes);
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

void cut(Workbench& bench, io::File& file, std::uint64_t size) {
  const std::uint64_t present = bench.storage.state(file).size_bytes;
  if (present < size)
    throw IoError(
        fmt::format("'{}' has {} bytes, {} are needed: it was changed, or the drive lost a part of it; nothing more "
                    "was given up",
                    file.path(), present, size));
  if (present > size) bench.storage.set_size(file, size);
}

Task<std::vector<std::byte>> read_bytes(Workbench& bench, const io::File& file, std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t from = round_down(begin, bench.layout.unit), size = round_up(end, bench.layout.unit) - from;
  const Buffer memory = bench.memory.allocate(size, "a few bytes of a file");
  co_await bench.reactor.read(file, from, memory.data(), size, end - from);
  const std::byte* const bytes = memory.data();
  co_return std::vector<std::byte>(bytes + (begin - from), bytes + (end - from));
}

}  // namespace ecosort::inplace
