// `ecosort resume` finds no job to continue with.
#pragma once

#include <string>

#include "base/errors.h"

namespace ecosort::cli {

// It is a code of its own, so that a script knows that the sort is to be started. The library, which has no jobs, knows only the
// others.
inline constexpr ExitCode not_begun_code{5};

// None was begun, or nothing of it was done yet. Nothing is lost.
struct NotBegun : Error {
  explicit NotBegun(const std::string& line) : Error(not_begun_code, line) {}
};

}  // namespace ecosort::cli
