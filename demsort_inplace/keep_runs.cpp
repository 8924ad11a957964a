#include "demsort_inplace/keep_runs.h"

#include "base/errors.h"
#include "demsort_inplace/first_phase.h"

namespace ecosort::inplace {

KeepRuns::KeepRuns(Workbench& bench) : bench_(bench), first_(bench.done.size()), kept_(bench.reactor.scope()) {}

Task<void> KeepRuns::before_store(std::size_t /*part*/) { co_return; }

Task<void> KeepRuns::after_store(std::size_t part, engine::Tally read, engine::Tally written) {
  const std::size_t run = first_ + part;
  check_run(bench_.layout, run, read, written);
  co_await make_run_durable(bench_, run, read);
  while (bench_.done.size() < run) co_await kept_.changed();
  for (std::size_t i = 0; i < bench_.inputs.size(); ++i)
    check_same_input(bench_.storage.state(*bench_.inputs[i].file), bench_.header.inputs[i], bench_.paths);
  const RunDone done{run, read};
  co_await bench_.journal->append(done);
  bench_.done.push_back(done);
  kept_.notify();
  if (const int signal_number = bench_.interrupted.load(); signal_number != 0) throw Interrupted(signal_number);
}

}  // namespace ecosort::inplace
