// Whether a request of a program can be done at all. The command line checks its words, and says it by their names.
#pragma once

#include "ecosort/request.hpp"

namespace ecosort::library {

// Throws UsageError for a request that lacks something, and for what a job that outlives a crash cannot do, with the reason.
void check_request(const Request& request);

}  // namespace ecosort::library
