// Where a sort reads and writes: checked before hours of work (promise P9). Nothing here creates anything.
#pragma once

#include <string>
#include <vector>

#include "cli/sort_options.h"
#include "io/posix_storage.h"
#include "pipeline/read_ahead.h"

namespace ecosort::cli {

// All of them throw UsageError, one line that says what is wrong where, and what would work.

// The output can be created or replaced, and is none of the inputs, through whatever name or link.
void check_output(const std::string& output, const std::vector<pipeline::Input>& inputs);

// --stats and --events can be written, and name neither an input nor the output nor each other.
void check_report_files(const SortOptions& options, const std::vector<pipeline::Input>& inputs);

// The directories for runs: those of --temp, one per drive (a second one there gains nothing), else that of the output.
// All are writable.
[[nodiscard]] std::vector<std::string> run_directories(const SortOptions& options);

// A tmpfs that nobody named would take the memory that the sort was told not to use.
void check_not_tmpfs(const SortOptions& options, const std::vector<std::string>& directories);

}  // namespace ecosort::cli
