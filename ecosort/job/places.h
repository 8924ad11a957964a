// Checks where a sort reads and writes, before hours of work (promise P9). Nothing here creates anything.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/errors.h"
#include "engine/fixed/read_ahead.h"
#include "io/posix_storage.h"

namespace ecosort::job {

// All of them throw UsageError, one line that says what is wrong where, and what would work.

// The output can be created or replaced, no job waits to write it, and it is none of the inputs, through whatever name or link.
void check_output(const std::string& output, const std::vector<engine::fixed::Input>& inputs, const io::PosixStorage& storage);

// Returns the name behind the links of an output of which no job may be there, or "-".
[[nodiscard]] std::string resolve_output(const std::string& output);

// Checks it before anything is opened, for one file that is written (`output`, or "-"). `as`: what it would replace, "an input".
void check_is_kept(const std::string& kept, const std::string& output, const std::string& as);

// The directories for runs: those that are named, one per drive (a second one there gains nothing), else that of the output.
// All are writable.
[[nodiscard]] std::vector<std::string> run_directories(std::vector<std::string> named, const std::string& output);

// Runs would lie in memory.
struct RunsInMemory : UsageError {
  using UsageError::UsageError;
};

// RunsInMemory: a tmpfs that no one named would take the memory that the sort may not use.
void check_not_tmpfs(const std::string& directory);

// `what` and `directory` for the message.
void check_writable_directory(const std::string& what, const std::string& directory);

}  // namespace ecosort::job
