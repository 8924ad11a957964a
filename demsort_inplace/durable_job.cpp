#include "demsort_inplace/durable_job.h"

#include <fmt/format.h>

#include <utility>

#include "base/errors.h"

namespace ecosort::demsort_inplace {

namespace {

// The result takes the owner, mode and attributes of what it replaces; in place that is the file itself, which has its name in
// the job directory by now. Only when all is written: a write takes some of them away, and a mode may keep its owner from
// writing.
void keep_attributes(JobBench& bench, io::File& result) {
  const bool is_in_place = bench.header.is_in_place();
  if (is_in_place && result.path() == bench.paths.input) return;  // it has them
  const std::string lost = bench.storage.adopt_attributes(result, is_in_place ? bench.paths.input : bench.paths.file);
  if (!lost.empty())
    bench.notices.push_back(
        fmt::format("could not keep of {}'{}': {}", is_in_place ? "" : "the replaced ", bench.paths.file, lost));
}

Task<void> reread(JobKernel& kernel, const State& state) {
  const std::uint64_t bytes = kernel.reread_bytes(state);
  if (bytes == 0) co_return;
  JobBench& bench = kernel.job_bench;
  co_await bench.reactor.sync(kernel.file());
  bench.begin("reread", engine::Phase::reread, bytes, bytes);
  co_await kernel.reread(state);
  bench.end();
}

// Everything about the result, its exact length included, is durable before the journal says that it is all there is.
Task<void> complete(JobKernel& kernel, State state) {
  JobBench& bench = kernel.job_bench;
  bench.begin("sync", engine::Phase::sync, 0);
  const std::uint64_t bytes = kernel.result_bytes(state);
  if (bench.storage.state(kernel.file()).size_bytes != bytes) bench.storage.set_size(kernel.file(), bytes);
  keep_attributes(bench, kernel.file());
  bench.storage.sync(kernel.file());
  state.kind = kernel.last;
  co_await bench.journal->append(state);
  bench.state = std::move(state);
  bench.end();
}

// From the state in which the files are.
Task<void> bring_to_end(JobKernel& kernel) {
  if (!kernel.is_formed()) co_await kernel.form();
  State state = co_await kernel.merge();
  co_await reread(kernel, state);
  co_await complete(kernel, std::move(state));
}

Task<void> create_and_sort(JobKernel& kernel) {
  JobBench& bench = kernel.job_bench;
  bench.begin("prepare", engine::Phase::starting, 0);
  try {
    co_await kernel.create();
  } catch (...) {
    discard_preparation(bench);
    throw;
  }
  kernel.sync_taken();
  bench.end();
  co_await bring_to_end(kernel);
}

Task<void> open_and_sort(JobKernel& kernel) {
  begin_recheck(kernel.job_bench, kernel.recheck_bytes());
  co_await kernel.open();
  kernel.job_bench.end();
  co_await bring_to_end(kernel);
}

// A result that has its name is not read again: a user who finds it may have written to it.
Task<void> recheck_complete(JobKernel& kernel) {
  JobBench& bench = kernel.job_bench;
  if (!bench.storage.exists(kernel.result)) co_return;
  const io::FilePtr file = bench.storage.open_named(kernel.result, io::Role::output, direct);
  check_length(bench, *file, kernel.result_bytes(*bench.state));
  begin_recheck(bench, kernel.recheck_bytes());
  co_await kernel.recheck(*file);
  bench.end();
}

// Writes into the journal that a job is abandoned which has nothing to put back.
Task<void> give_up(JobBench& bench) {
  co_await open_journal(bench);
  State state{.kind = State::Kind::abandoned, .records = bench.header.layout.records};
  if (!bench.header.lines) state.consumed.assign(bench.header.layout.runs(), 0);
  co_await bench.journal->append(state);
  bench.state = std::move(state);
}

// Gives the result, which is complete, its name, unless it has it already. `is_sorted`: it is what the user asked for, so that a
// kill in the last moment is told from one in the first.
// It was synced, so that a failed close can lose nothing; but it is reported.
void publish_and_clean_up(JobBench& bench, const std::string& result, bool is_sorted) {
  const bool is_in_place = bench.header.is_in_place();
  bench.log.begin("publish", bench.reactor.traffic());
  bench.progress.begin(engine::Phase::sync, 0);
  if (bench.is_complete &&
      bench.storage.exists(result)) {  // the process that completed it had no time to report what it could not keep
    const io::FilePtr file = bench.storage.open_named(result, io::Role::output, io::Caching::buffered);
    keep_attributes(bench, *file);
  }
  if (bench.files.output) bench.storage.close(std::move(bench.files.output));
  check_directory(bench.storage, bench.paths, *bench.files.directory);
  demsort_inplace::publish(bench.storage, bench.paths, result, is_in_place ? Previous::none : Previous::replaced);
  close_files(bench);
  bench.notices.push_back(
      clean_up(bench.storage, bench.paths, *bench.files.directory, {.with_input = is_in_place, .is_finished = is_sorted}));
  bench.end();
  bench.progress.begin(engine::Phase::done, 0);
}

void publish(JobKernel& kernel) {
  publish_and_clean_up(kernel.job_bench, kernel.result, kernel.job_bench.state->kind == State::Kind::merged);
}

}  // namespace

// An abandoned job is never begun, and forms no runs.
Task<void> JobKernel::create() { throw InternalError("this job cannot be begun"); }
Task<void> JobKernel::form() { throw InternalError("this job forms no runs"); }
Task<void> JobKernel::reread(const State& /*state*/) { throw InternalError("this job reads nothing again"); }

void begin_job(JobKernel& kernel) {
  kernel.plan_progress(0);
  kernel.job_bench.run(create_and_sort(kernel));
  publish(kernel);
}

void continue_job(JobKernel& kernel) {
  JobBench& bench = kernel.job_bench;
  const bool is_gone = bench.is_complete && !bench.storage.exists(kernel.result) && !bench.storage.exists(bench.paths.file);
  const bool is_given_up = kernel.last == State::Kind::abandoned && !bench.only_completes;
  if (is_gone && is_given_up) {  // somebody else removed what could be given back
    bench.notices.push_back(fmt::format("nothing of '{}' is left; the rest of its job was removed", bench.paths.file));
    return remove_job(bench);
  }
  kernel.plan_progress(kernel.recheck_bytes());
  bench.run(bench.is_complete ? recheck_complete(kernel) : open_and_sort(kernel));
  publish(kernel);
}

void refuse_reread(const JobBench& bench) {
  throw VerificationError(fmt::format(
      "what was read back from the output is not what was written to it (check the drive){}",
      bench.header.is_in_place() ? "" : fmt::format("; start again after: ecosort resume --abandon {}", bench.paths.file)));
}

void give_back_input(JobKernel& kernel, std::uint64_t bytes) {
  JobBench& bench = kernel.job_bench;
  const io::FilePtr input = bench.storage.open_named(bench.paths.input, io::Role::input, io::Caching::buffered);
  if (const std::uint64_t present = bench.storage.state(*input).size_bytes; present != bytes)
    bench.notices.push_back(fmt::format(
        "'{}' had {} bytes when the job began and has {} now: somebody else wrote to it, or cut it; it is given back as it is",
        bench.paths.file, bytes, present));
  bench.run(give_up(bench));
  publish_and_clean_up(bench, kernel.result, false);
}

void remove_job(JobBench& bench) {
  bench.log.begin("remove", bench.reactor.traffic());
  bench.progress.begin(engine::Phase::sync, 0);
  if (!bench.state || bench.state->kind != State::Kind::abandoned) bench.run(give_up(bench));
  close_files(bench);
  const CleanUp how{.with_input = bench.header.is_in_place()};
  bench.notices.push_back(clean_up(bench.storage, bench.paths, *bench.files.directory, how));
  bench.end();
  bench.progress.begin(engine::Phase::done, 0);
}

}  // namespace ecosort::demsort_inplace
