#include "demsort_inplace/finish.h"

#include <fmt/format.h>

#include <utility>

#include "base/errors.h"
#include "demsort_inplace/job_end.h"
#include "engine/fixed/reread.h"

namespace ecosort::inplace {

void verify(const Workbench& bench, const State& end) {
  records::MultisetHash expected;
  for (const RunDone& done : bench.done) expected += done.tally.hash;
  const bool is_given_back = end.kind == State::Kind::abandoning && bench.trusts_drive;  // as the drive has it
  if ((end.hash == expected || is_given_back) && end.records == bench.layout.records) return;
  throw VerificationError(
      fmt::format("verification failed: {} records with hash {} were read, {} with hash {} were written; "
                  "the runs still hold what the last checkpoint does not",
                  bench.layout.records, expected.to_hex(), end.records, end.hash.to_hex()));
}

Task<void> reread(Workbench& bench, const State& end) {
  verify(bench, end);
  co_await bench.reactor.sync(*bench.files.output);
  bench.begin("reread", engine::Phase::reread, bench.layout.bytes(), bench.layout.bytes());
  engine::Reread rereader(bench, bench.encoder, *bench.files.output, {0, bench.layout.records},
                          bench.plan.formation.read_block_bytes);
  rereader.stop_for(bench.interrupted);
  co_await rereader.run();
  bench.end();
  if (rereader.tally().hash == end.hash && rereader.in_order()) co_return;
  const bool is_in_place = bench.header.is_in_place();
  throw VerificationError(
      fmt::format("what was read back from the output is not what was written to it (check the drive){}",
                  is_in_place ? "" : fmt::format("; start again after: ecosort resume --abandon {}", bench.paths.file)));
}

Task<void> complete(Workbench& bench, io::File& result, State end, State::Kind kind) {
  bench.begin("sync", engine::Phase::sync, 0);
  verify(bench, end);
  co_await complete_result(bench, result, std::move(end), kind);
  bench.end();
}

// Most of all runs at a time. Packed ones may have taken more than was promised where less was promised than they may take.
std::uint64_t peak_run_bytes(const Workbench& bench) {
  std::uint64_t used = 0;
  if (bench.layout.packs && bench.layout.keeps_runs)
    for (std::uint64_t run = 0; run < bench.layout.runs(); ++run) used += bench.durable_run_bytes(run);
  return std::max(bench.layout.all_run_bytes(), used);
}

engine::SortReport publish_result(Workbench& bench, const std::string& result) {
  const bool is_in_place = bench.header.is_in_place();
  const bool is_abandoned =
      bench.state && (bench.state->kind == State::Kind::abandoning || bench.state->kind == State::Kind::abandoned);
  bench.store.reset();
  publish_and_clean_up(bench, result, !is_abandoned && bench.done.size() == bench.layout.runs());
  engine::SortReport& report = bench.report;
  report.plan = bench.plan;
  report.records = bench.layout.records;
  for (const RunDone& done : bench.done) {
    report.hash += done.tally.hash;
    report.checksum += done.tally.checksum;
  }
  report.input_bytes = report.output_bytes = bench.layout.bytes();
  report.traffic = bench.reactor.traffic();
  report.peak_temp_bytes = (is_in_place ? bench.layout.extra_bytes() : peak_run_bytes(bench)) + Journal::size_bytes(bench.header);
  report.peak_memory_bytes = bench.memory.peak_bytes();
  report.runs = bench.layout.runs();
  if (bench.packer && bench.packer->report().blocks > 0) report.run_packing = bench.packer->report();
  report.notices.insert(report.notices.end(), bench.notices.begin(), bench.notices.end());
  bench.progress.begin(engine::Phase::done, 0);
  return std::move(report);
}

}  // namespace ecosort::inplace
