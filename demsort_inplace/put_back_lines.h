// Abandoning a job of lines in place at any time: its lines become one file again, sorted as far as they are, in the same space.
//
//   not all lines are in runs   input   | run 0 | run 1 | ... | rest, as it was |     the runs' lines fill the holes of the input
//   all are                     output  | what was merged | rest of run 0 | rest of run 1 | ... |
//
// The bytes of a run's block are copied as they are, once its checksum was compared. No line is compared, so a line that stops
// the sort or the merge each time does not stop this.
//
//   lines written -> result durable -> journal: so many bytes of it, and what of each run is in it -> holes in the runs -> room
//   for more
//
// A place that the journal knows lies between two units of the result, so that nothing durable is written twice; but for the
// unit in which the result ends at the beginning, or in which the rest of the input begins: it is kept in the spare file.
#pragma once

#include "demsort_inplace/job_bench.h"

namespace ecosort::demsort_inplace {

// Bytes of memory that it works with.
[[nodiscard]] std::uint64_t put_back_memory_bytes(const JournalContents& contents) noexcept;

// Brings a job on the bench that is under way, or complete, to its end.
void put_back_lines(JobBench& bench);

}  // namespace ecosort::demsort_inplace
