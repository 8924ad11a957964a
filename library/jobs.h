// Sorts that outlive a crash, for a program that called the library.
#pragma once

#include <optional>

#include "ecosort/ecosort.hpp"
#include "library/run.h"

namespace ecosort::library {

// A request whose place is a resumable file, or the input itself. Nothing: there is nothing to sort that would be worth a job.
// UsageError for what no job can do.
[[nodiscard]] std::optional<Report> run_job(const Request& request, const Attendance& attendance);

}  // namespace ecosort::library
