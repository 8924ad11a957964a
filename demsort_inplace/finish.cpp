#include "demsort_inplace/finish.h"

#include <fmt/format.h>

#include <utility>

#include "base/errors.h"
#include "engine/fixed/reread.h"

namespace ecosort::inplace {

void verify(const Workbench& bench, const State& end) {
  records::MultisetHash expected;
  for (const RunDone& done : bench.done) expected += done.tally.hash;
  if (end.hash == expected && end.records == bench.layout.records) return;
  throw VerificationError(
      fmt::format("verification failed: {} records with hash {} were read, {} with hash {} were written; "
                  "the runs still hold what the last checkpoint does not",
                  bench.layout.records, expected.to_hex(), end.records, end.hash.to_hex()));
}

namespace {

// The result takes the owner, mode and attributes of what it replaces; in place that is the file itself, which has its name in
// the job directory by now. Only when all is written: a write takes some of them away, and a mode may keep its owner from
// writing.
void keep_attributes(Workbench& bench, io::File& result) {
  const bool is_in_place = bench.header.kind == JobHeader::Kind::in_place;
  if (is_in_place && result.path() == bench.paths.input) return;  // it has them
  const std::string lost = bench.storage.adopt_attributes(result, is_in_place ? bench.paths.input : bench.paths.file);
  if (!lost.empty())
    bench.report.notice = fmt::format("could not keep of {}'{}': {}", is_in_place ? "" : "the replaced ", bench.paths.file, lost);
}

}  // namespace

Task<void> reread(Workbench& bench, const State& end) {
  verify(bench, end);
  co_await bench.reactor.sync(*bench.files.output);
  bench.begin("reread", engine::Phase::reread, bench.layout.bytes());
  engine::Reread rereader(bench.reactor, bench.compute, bench.encoder, *bench.files.output, {0, bench.layout.records},
                          bench.plan.formation.read_block_bytes, bench.memory, bench.progress);
  rereader.stop_for(bench.interrupted);
  co_await rereader.run();
  bench.end();
  if (rereader.tally().hash == end.hash && rereader.in_order()) co_return;
  const bool is_in_place = bench.header.kind == JobHeader::Kind::in_place;
  throw VerificationError(
      fmt::format("what was read back from the output is not what was written to it (check the drive){}",
                  is_in_place ? "" : fmt::format("; start again after: ecosort resume --abandon {}", bench.paths.file)));
}

Task<void> complete(Workbench& bench, io::File& result, State end, State::Kind kind) {
  bench.begin("sync", engine::Phase::sync, 0);
  verify(bench, end);
  keep_attributes(bench, result);
  bench.storage.sync(result);
  end.kind = kind;
  co_await bench.journal->append(end);
  bench.end();
}

// The result was synced, so that a failed close can lose nothing; but it is told.
engine::SortReport publish_result(Workbench& bench, const std::string& result) {
  const bool is_in_place = bench.header.kind == JobHeader::Kind::in_place;
  bench.begin("publish", engine::Phase::sync, 0);
  if (bench.is_complete && bench.storage.exists(result)) {  // whoever completed it had no time to tell what it could not keep
    const io::FilePtr file = bench.storage.open_named(result, io::Role::output, io::Caching::buffered);
    keep_attributes(bench, *file);
  }
  if (bench.files.output) bench.storage.close(std::move(bench.files.output));
  check_directory(bench.storage, bench.paths, *bench.files.directory);
  publish(bench.storage, bench.paths, result, is_in_place ? Previous::none : Previous::replaced);
  const bool is_abandoned =
      bench.state && (bench.state->kind == State::Kind::abandoning || bench.state->kind == State::Kind::abandoned);
  const bool is_sorted = !is_abandoned && bench.done.size() == bench.layout.runs();
  clean_up(bench.storage, bench.paths, *bench.files.directory, {.with_input = is_in_place, .is_finished = is_sorted});
  bench.end();
  engine::SortReport& report = bench.report;
  report.plan = bench.plan;
  report.records = bench.layout.records;
  for (const RunDone& done : bench.done) report.tally += done.tally;
  report.traffic = bench.reactor.traffic();
  report.peak_temp_bytes =
      (is_in_place ? bench.layout.extra_bytes() : bench.layout.all_run_bytes()) + Journal::size_bytes(bench.header);
  report.peak_memory_bytes = bench.memory.peak_bytes();
  report.runs = bench.layout.runs();
  bench.progress.begin(engine::Phase::done, 0);
  return std::move(report);
}

}  // namespace ecosort::inplace
