// Sums up the runs of lines that a journal names.
#pragma once

#include <cstdint>
#include <vector>

#include "demsort_inplace/job_records.h"

namespace ecosort::demsort_inplace {

// The runs that there are, by their numbers, in the order of their lines in the inputs: a merged run is where its sources were.
// The header is none of them. IoError where runs were merged that there are not.
[[nodiscard]] std::vector<std::uint64_t> live_runs(const std::vector<RunDone>& done);

// The header's, or null.
[[nodiscard]] const RunDone* header_run(const std::vector<RunDone>& done) noexcept;

// Returns those of all rows that are in runs.
[[nodiscard]] formats::RepeatedHeader repeated_header(const std::vector<RunDone>& done);

// Says which of the runs that the inputs make it is: a merged one takes the places of its sources.
struct RunPlace {
  std::uint64_t position = 0, span = 1;
};
// Returns the place of a run that was merged, after those of `before`; of one that the inputs made by its number, where the
// header has one or not.
[[nodiscard]] RunPlace place_of_merged(const RunDone& run, const std::vector<RunDone>& before);
[[nodiscard]] inline RunPlace place_of_formed(std::uint64_t run, bool has_header) noexcept {
  return {run - (has_header ? 1 : 0)};
}

// Returns where in the inputs reading continues.
[[nodiscard]] engine::rows::ReadPlace next_place(const std::vector<RunDone>& done) noexcept;

// Return the blocks and bytes of a run's file, with its head and, where its blocks are packed, their table.
[[nodiscard]] std::uint64_t blocks_of(const RunDone& run, std::uint64_t block_bytes) noexcept;
[[nodiscard]] std::uint64_t run_file_bytes(const RunDone& run, std::uint64_t block_bytes, std::uint64_t head_bytes) noexcept;

// The most that the runs took at any time, in blocks of their files and what each begins with.
[[nodiscard]] std::uint64_t most_run_bytes(const std::vector<RunDone>& done, std::uint64_t block_bytes, std::uint64_t head_bytes);

}  // namespace ecosort::demsort_inplace
