// The files of a job of rows: in place FILE is taken, and the job can be given up only as long as it has all lines.
#pragma once

#include "demsort_inplace/lines_bench.h"

namespace ecosort::demsort_inplace {

// Bytes of the output, at most: each input may lack the end of its last line.
[[nodiscard]] std::uint64_t most_output_bytes(const JobHeader& header) noexcept;

// Creates the files of a job that begins: names are durable, and a journal says what they mean, before there is anything in the
// files; in place FILE, the only input, which is open, becomes `input` of the job last. A failure leaves FILE as it was.
[[nodiscard]] Task<void> create_row_files(LinesBench& bench);

// Opens a job that is there, all but the runs, and compares all lengths. Nothing is changed yet. IoError where in place the input
// is not what a crash leaves of it, InputChanged where one beside the job is another file than it was.
[[nodiscard]] Task<void> open_row_files(LinesBench& bench);

// Brings them to what the journal says: removes runs that a crash left half written, or that were merged, and cuts the output.
[[nodiscard]] Task<void> cut_row_files(LinesBench& bench);

// Reserves what the output does not have yet of its space, so that no one else can take it an hour later (promise P10). In place
// given_space.h does that.
[[nodiscard]] Task<void> reserve_output(LinesBench& bench);

// In place all lines are in runs: neither input nor spare file need any space.
void give_up_input(LinesBench& bench);

}  // namespace ecosort::demsort_inplace
