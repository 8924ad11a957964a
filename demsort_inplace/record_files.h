// The files of a job of records that is there already.
#pragma once

#include "demsort_inplace/workbench.h"

namespace ecosort::demsort_inplace {

// Opens them, reads the result again (recheck.h), and brings every file to the length that the journal gives it; what a crash
// left beyond that is not needed. Where all lengths and the result are not what the journal says, nothing is changed.
// `into_input`: the job is (being) abandoned, and its records are appended to what is left of the input.
[[nodiscard]] Task<void> open_files(Workbench& bench, bool into_input);

}  // namespace ecosort::demsort_inplace
