// Reads a request from a JSON value that is there already, as the command line makes one.
#pragma once

#include "base/json.h"
#include "ecosort/request.hpp"

namespace ecosort::job {

// Does not ask for the name of the schema. Throws UsageError that names the member that is wrong.
[[nodiscard]] Request request_of(const Json& json);

}  // namespace ecosort::job
