// Reads from a request what becomes of rows that cannot be sorted, and of lines that are no rows.
#pragma once

#include <cstdint>
#include <string>

#include "ecosort/request.hpp"
#include "engine/rows/set_aside.h"

namespace ecosort::job {

// Returns whether such rows are left out; else the first one is an error.
[[nodiscard]] bool leaves_out_bad_rows(const Values& values) noexcept;
// Returns the file that gets them; empty: there is none.
[[nodiscard]] std::string set_aside_path(const Request& request);

// UsageError where rows would be left out of files that are merged, or by a job that outlives a crash.
void check_lenience(const Request& request);

// UsageError where the file cannot be one. `memory_bytes` is that of the sort, of which it takes a little.
[[nodiscard]] engine::rows::SetAsideTerms set_aside_of(const Request& request, std::uint64_t memory_bytes);

}  // namespace ecosort::job
