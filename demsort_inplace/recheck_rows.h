// Reads back the output of a job of rows: what a crash left of it (recheck.h), and with `--verify=reread` the whole.
#pragma once

#include "demsort_inplace/lines_bench.h"

namespace ecosort::demsort_inplace {

// OutputChanged unless the file holds what the last state of the journal says.
[[nodiscard]] Task<void> recheck_rows(LinesBench& bench, const io::File& file);

// VerificationError unless the device gives back what went in, in order.
[[nodiscard]] Task<void> reread_rows(LinesBench& bench, const io::File& file, const State& end);

}  // namespace ecosort::demsort_inplace
