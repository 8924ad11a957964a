// What a sort of lines in place begins and ends with, beside what it has in common with one that can be resumed
// (resumable_lines.h): FILE is taken, its lines are nowhere else, and the job can be given up only as long as it has them all.
#pragma once

#include "demsort_inplace/lines_bench.h"

namespace ecosort::inplace {

// Before FILE, the only input, which is open, becomes `input` of the job. A failure leaves FILE as it was.
[[nodiscard]] Task<void> prepare_in_place(LinesBench& bench);

// The files of a job that is there, but its runs and output: input and spare file. IoError where the input is not what a crash
// leaves of it.
void open_in_place(LinesBench& bench);

// All lines are in runs: neither input nor spare file need any space.
void give_up_input(LinesBench& bench);

// Makes one file of all lines again, as FILE was where no line has left it, and says so in the journal. It has no name yet.
[[nodiscard]] Task<void> give_back_file(JobBench& bench);

}  // namespace ecosort::inplace
