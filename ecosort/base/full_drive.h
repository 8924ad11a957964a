// Decides whether a failure means that the drive is full.
#pragma once

#include <cerrno>

namespace ecosort {

// Returns whether the drive, or a quota on it, is full.
[[nodiscard]] constexpr bool is_full(int error_number) noexcept { return error_number == ENOSPC || error_number == EDQUOT; }

}  // namespace ecosort
