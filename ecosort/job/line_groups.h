// Reads what a request says of rows of several lines.
#pragma once

#include <optional>

#include "ecosort/request.hpp"
#include "formats/lines/line_groups.h"
#include "formats/record_marks.h"

namespace ecosort::job {

// Rows of several lines are of one form, and what they cannot be combined with is not there. UsageError otherwise; the others
// check that, too.
void check_line_groups(const Request& request);
// Rows whose ends show from their beginnings on. Nothing: its rows are others.
[[nodiscard]] std::optional<lines::LineGroups> line_groups_of(const Request& request);
// Rows whose ends show in the next one. Likewise.
[[nodiscard]] std::optional<formats::RecordMarks> record_marks_of(const Request& request);

}  // namespace ecosort::job
