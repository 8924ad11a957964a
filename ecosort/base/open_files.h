// How many files the program may have open.
#pragma once

#include <cstdint>

namespace ecosort {

// The limit that holds (RLIMIT_NOFILE); a large number where the system sets none.
[[nodiscard]] std::uint64_t open_files_allowed() noexcept;

// Raises the limit of the process as far as it goes.
void raise_open_files() noexcept;

}  // namespace ecosort
