// The runs of a job of fixed records, with the forecasts of those that the journal knows, for the phase that has just begun.
#pragma once

#include "demsort_inplace/workbench.h"

namespace ecosort::demsort_inplace {

// Takes the runs on the bench into a store of its own, from the first record on that the last state left in them. Fills
// `bench.numbers`.
[[nodiscard]] Task<void> adopt_runs(Workbench& bench);

}  // namespace ecosort::demsort_inplace
