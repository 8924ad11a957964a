// Where a job directory may stand beside its output, for every kind of resumable sort.
#pragma once

#include <cstdint>
#include <string>

#include "demsort_inplace/space_plan.h"
#include "io/file.h"
#include "io/posix_storage.h"

namespace ecosort::cli {

// UsageError unless the input is a regular file: only these tell by their times whether someone has written to them.
void check_regular(const io::File& input);

// UsageError where an interrupted job stands beside the output already.
void check_no_job(const std::string& output, io::PosixStorage& storage);

// UsageError where journal, runs and their names might not outlive a crash.
void check_outlives_crash(const std::string& directory);

// Whether runs may give their space to the output there.
[[nodiscard]] inplace::Mode mode_in(const std::string& directory);

// What e2fsck finds after a crash was not brought into order by a journal: a notice, or nothing.
[[nodiscard]] std::string journal_notice(const std::string& output);

// What files in the directory must be cut, read and written in.
[[nodiscard]] std::uint64_t direct_unit(const std::string& directory, io::PosixStorage& storage);

// UsageError where files may not get as large as that (`ulimit -f`).
void check_file_size_limit(std::uint64_t largest_bytes);

// UsageError that says how much is needed there, and how much is free.
[[noreturn]] void refuse_space(const std::string& directory, std::uint64_t need_bytes, std::uint64_t free_bytes);

}  // namespace ecosort::cli
