#include "demsort_inplace/first_phase.h"

#include <fmt/format.h>

#include <vector>

#include "base/errors.h"
#include "demsort_inplace/adopt_runs.h"
#include "demsort_inplace/describe_run.h"

namespace ecosort::inplace {

Task<void> form_runs(Workbench& bench, engine::RunKeeper& keeper) {
  const Layout& layout = bench.layout;
  const std::uint64_t bytes = bench.formation_bytes(bench.done.size());
  bench.begin("run_formation", engine::Phase::run_formation, bytes, bytes);
  co_await adopt_runs(bench);
  std::vector<engine::RunPart> parts;
  for (std::uint64_t run = bench.done.size(); run < layout.runs(); ++run)
    parts.push_back({layout.records_left(run + 1), layout.run_records(run), bench.numbers[run]});
  {
    engine::ReadAhead reader(bench, bench.plan, bench.encoder, bench.inputs);
    engine::FormRuns former({bench, bench.encoder, *bench.store}, bench.plan, reader, bench.packer.get());
    co_await former.form_parts(parts, keeper);
  }
  bench.end();
}

Task<void> make_run_durable(Workbench& bench, std::uint64_t run, engine::Tally tally) {
  if (bench.layout.head_bytes > 0)
    co_await bench.store->write_description(bench.numbers[run], describe(bench.header, run, tally.hash));
  co_await bench.reactor.sync(bench.store->run(bench.numbers[run]).file());
}

void check_run(const Layout& layout, std::uint64_t run, const engine::Tally& read, const engine::Tally& written) {
  if (read.hash == written.hash && read.hash.count == layout.run_records(run)) return;
  throw VerificationError(
      fmt::format("verification failed: {} records with hash {} were read as piece {}, {} with hash {} were "
                  "written as run; the piece is still in the input",
                  read.hash.count, read.hash.to_hex(), run, written.hash.count, written.hash.to_hex()));
}

}  // namespace ecosort::inplace
