#include "demsort_inplace/finish.h"

#include <fmt/format.h>

#include <utility>

#include "base/errors.h"

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

Task<void> complete(Workbench& bench, io::File& result, State end, State::Kind kind) {
  bench.begin("sync", pipeline::Phase::sync, 0);
  verify(bench, end);
  bench.storage.sync(result);
  end.kind = kind;
  co_await bench.journal->append(end);
  bench.end();
}

// The result was synced, so that a failed close can lose nothing; but it is told.
pipeline::SortReport publish_result(Workbench& bench, const std::string& result) {
  const bool is_in_place = bench.header.kind == JobHeader::Kind::in_place;
  bench.begin("publish", pipeline::Phase::sync, 0);
  if (bench.files.output) bench.storage.close(std::move(bench.files.output));
  check_directory(bench.storage, bench.paths, *bench.files.directory);
  publish(bench.storage, bench.paths, result, is_in_place ? Previous::none : Previous::replaced);
  const bool is_abandoned =
      bench.state && (bench.state->kind == State::Kind::abandoning || bench.state->kind == State::Kind::abandoned);
  const bool is_sorted = !is_abandoned && bench.done.size() == bench.layout.runs();
  clean_up(bench.storage, bench.paths, *bench.files.directory, {.with_input = is_in_place, .is_finished = is_sorted});
  bench.end();
  pipeline::SortReport& report = bench.report;
  report.plan = bench.plan;
  report.records = bench.layout.records;
  for (const RunDone& done : bench.done) report.tally += done.tally;
  report.traffic = bench.reactor.traffic();
  report.peak_temp_bytes =
      (is_in_place ? bench.layout.extra_bytes() : bench.layout.all_run_bytes()) + Journal::size_bytes(bench.header);
  report.peak_memory_bytes = bench.memory.peak_bytes();
  report.runs = bench.layout.runs();
  bench.progress.begin(pipeline::Phase::done, 0);
  return std::move(report);
}

}  // namespace ecosort::inplace
