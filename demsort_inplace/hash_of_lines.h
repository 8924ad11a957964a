// Count and hash of the lines that a file of a job begins with, as the drive has them: whole lines, whatever ends them.
#pragma once

#include <cstdint>

#include "demsort_inplace/job_bench.h"

namespace ecosort::demsort_inplace {

// Bytes that it takes of the budget.
[[nodiscard]] std::uint64_t hash_of_lines_memory_bytes(std::uint64_t longest) noexcept;

// Hashes bytes [0, end), the last one of which ends a line, and so says what ends all of them. A line longer than all lines of
// the job's runs counts as several: it is none of theirs.
[[nodiscard]] Task<hash::MultisetHash> hash_of_lines(JobBench& bench, const io::File& file, std::uint64_t end);

}  // namespace ecosort::demsort_inplace
