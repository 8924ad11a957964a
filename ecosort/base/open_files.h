// How many files the program may have open.
#pragma once

#include <cstdint>

namespace ecosort {

// Raises the limit (RLIMIT_NOFILE) as far as it goes and returns it; a large number where the system sets none.
[[nodiscard]] std::uint64_t raise_open_files() noexcept;

}  // namespace ecosort
