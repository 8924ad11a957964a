// The files of an in-place job that is there already.
#pragma once

#include "demsort_inplace/workbench.h"

namespace ecosort::inplace {

// Opens them and brings every one to the length that the journal gives it; what a crash left beyond that is not needed.
// `into_input`: the job is (being) abandoned, and its records are appended to what is left of the input.
[[nodiscard]] Task<void> open_files(Workbench& bench, bool into_input);

}  // namespace ecosort::inplace
