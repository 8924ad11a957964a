#include "demsort_inplace/keep_runs.h"

#include "base/errors.h"
#include "demsort_inplace/first_phase.h"

namespace ecosort::inplace {

Task<void> reserve_output_room(Workbench& bench) {
  const Layout& layout = bench.layout;
  std::uint64_t run_bytes = layout.cut_units_bytes();
  for (std::uint64_t run = 0; run < layout.runs(); ++run)
    run_bytes += run < bench.done.size() ? bench.durable_run_bytes(run) : layout.run_file_bytes(run, 0);
  const std::uint64_t room = layout.output_room(run_bytes), before = bench.output_room;
  if (room <= before) co_return;
  bench.output_room = room;
  (void)co_await bench.reactor.reserve(*bench.files.output, before, room - before);
}

KeepRuns::KeepRuns(Workbench& bench) : bench_(bench), first_(bench.done.size()), kept_(bench.reactor.scope()) {}

Task<void> KeepRuns::before_store(std::size_t /*part*/) { co_return; }

Task<void> KeepRuns::after_store(std::size_t part, engine::Tally read, engine::Tally written) {
  const std::size_t run = first_ + part;
  check_run(bench_.layout, run, read, written);
  co_await make_run_durable(bench_, run, read);
  while (bench_.done.size() < run) co_await kept_.changed();
  for (std::size_t i = 0; i < bench_.inputs.size(); ++i)
    check_same_input(bench_.storage.state(*bench_.inputs[i].file), bench_.header.inputs[i], bench_.paths);
  const RunDone done{run, read, bench_.store->packed_bytes(bench_.numbers[run])};
  co_await bench_.journal->append(done);
  bench_.done.push_back(done);
  if (bench_.layout.packs) co_await reserve_output_room(bench_);
  kept_.notify();
  if (const int signal_number = bench_.interrupted.load(); signal_number != 0) throw Interrupted(signal_number);
}

}  // namespace ecosort::inplace
