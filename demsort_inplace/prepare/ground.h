// Checks where a job that outlives a crash may work: its directory, its files, its limits. It refuses before anything is changed.
#pragma once

#include <cstdint>
#include <string>

#include "base/errors.h"
#include "demsort_inplace/job_records.h"
#include "demsort_inplace/layout.h"
#include "demsort_inplace/space_plan.h"
#include "io/file.h"
#include "io/posix_storage.h"

namespace ecosort::demsort_inplace::prepare {

// UsageError unless the input is a regular file: only these show by their times whether someone has written to them.
void check_regular(const io::File& input);

// UsageError where journal, runs and their names might not outlive a crash.
void check_outlives_crash(const std::string& directory);

// Returns whether runs may give their space to the output there.
[[nodiscard]] Mode mode_in(const std::string& directory);

// Warns that no journal brought into order what e2fsck finds after a crash: a notice, or nothing.
[[nodiscard]] std::string journal_notice(const std::string& output);

// Returns the unit in which files in the directory must be cut, read and written.
[[nodiscard]] std::uint64_t direct_unit(const std::string& directory, io::PosixStorage& storage);

// UsageError where files may not get as large as that (`ulimit -f`).
void check_file_size_limit(std::uint64_t largest_bytes);

// Every run is an open file: raises the limit as far as it goes. UsageError if that is not far enough, or if files may not get as
// large as they must.
void check_limits(const Layout& layout, bool is_in_place);

// NotEnoughSpace for a job beside its output, with how much is needed there, and how much is free.
[[noreturn]] void refuse_space(const std::string& directory, std::uint64_t need_bytes, std::uint64_t free_bytes);

// The file would not go through the sort in its own space. More memory makes fewer runs, which may need less.
struct NoSpaceInPlace : NotEnoughSpace {
  NoSpaceInPlace(const std::string& line, std::uint64_t free, std::uint64_t need, const std::string& directory)
      : NotEnoughSpace(line, For::job, free, need, {directory}) {}
  std::uint64_t richer_memory_bytes = 0, need_bytes_then = 0;  // 0: that would not help
};

}  // namespace ecosort::demsort_inplace::prepare
