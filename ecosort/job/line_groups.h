// Reads what a request says of rows of several lines.
#pragma once

#include <optional>

#include "ecosort/request.hpp"
#include "formats/lines/line_groups.h"

namespace ecosort::job {

// Nothing: its rows are single lines, or no lines. UsageError for groups that cannot be.
[[nodiscard]] std::optional<lines::LineGroups> line_groups_of(const Request& request);

}  // namespace ecosort::job
