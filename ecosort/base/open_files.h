// Limits how many files the program may have open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace ecosort {

// The limit that holds (RLIMIT_NOFILE); a large number where the system sets none.
[[nodiscard]] std::uint64_t open_files_allowed() noexcept;

// A quarter of them: so many inputs may be open at a time, and so many files with runs. Half is left to everything else.
[[nodiscard]] std::size_t open_files_share() noexcept;

// UsageError where `files` besides the few that every process has are more than that. `what` needs them: "7 runs". `advice`
// follows the error; it may be empty.
void demand_open_files(const std::string& what, std::uint64_t files, const std::string& advice = "");

// Raises the limit of the process as far as it goes.
void raise_open_files() noexcept;

}  // namespace ecosort
