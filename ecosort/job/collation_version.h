// The version of ICU on which the order of a language depends. Jobs keep it, so that no other one continues them.
#pragma once

#include <string>

#include "ecosort/request.hpp"

namespace ecosort::job {

// Returns the version that decides the order of the rows, or an empty text where none does. UsageError where there is no ICU.
[[nodiscard]] std::string collation_version_of(const Request& request);
// Writes it into the request.
void keep_collation_version(Request& request);
// UsageError where the request names another version.
void check_collation_version(const Request& request);

}  // namespace ecosort::job
