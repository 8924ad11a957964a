// The first phase of a job: what is left of the input becomes durable runs.
#pragma once

#include "demsort_inplace/workbench.h"
#include "engine/fixed/form_runs.h"

namespace ecosort::inplace {

// Forms the runs that the journal does not know yet, from `bench.inputs`, under the eyes of `keeper`. Coordinator only.
[[nodiscard]] Task<void> form_runs(Workbench& bench, engine::RunKeeper& keeper);

// VerificationError unless the piece that was read and the run that was written hold the same records.
void check_run(const Layout& layout, std::uint64_t run, const engine::Tally& read, const engine::Tally& written);

// With its description, where there is room for it. `tally`: of its records.
[[nodiscard]] Task<void> make_run_durable(Workbench& bench, std::uint64_t run, engine::Tally tally);

}  // namespace ecosort::inplace
