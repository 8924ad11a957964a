// Sorts that outlive a crash, for a program that called the library.
#pragma once

#include <optional>

#include "ecosort/ecosort.hpp"
#include "library/run.h"

namespace ecosort::library {

// Throws UsageError for a request that lacks something, and for what a job that outlives a crash cannot do, with the reason.
void check_request(const Request& request);

// A request whose place is a resumable file, or the input itself. Nothing: there is nothing to sort that would be worth a job.
// UsageError for what no job can do.
[[nodiscard]] std::optional<Report> run_job(const Request& request, const Attendance& attendance);

}  // namespace ecosort::library
