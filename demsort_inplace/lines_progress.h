// Computes how far a job of lines is: what all its phases move, and what of that was done, here or before an interruption.
#pragma once

#include <cstdint>

#include "demsort_inplace/lines_bench.h"

namespace ecosort::demsort_inplace {

// Before the first phase; a job that continues reads so many bytes again first.
void plan_job_progress(LinesBench& bench, std::uint64_t recheck);
// Again when a phase has shown how much the next ones move.
void plan_progress(LinesBench& bench);

// Within run formation, when one more run is in the journal: how many there will be shows by their sizes. Does so each time that
// there are twice as many.
void refine_progress(LinesBench& bench);

// Bytes that run formation will still read and write.
[[nodiscard]] std::uint64_t formation_bytes_left(const LinesBench& bench);

}  // namespace ecosort::demsort_inplace
