#include "job/line_groups.h"

#include "base/errors.h"

namespace ecosort::job {

std::optional<lines::LineGroups> line_groups_of(const Request& request) {
  const Lines* const rows = std::get_if<Lines>(&request.rows);
  if (rows == nullptr || (!rows->paragraphs && rows->record_lines == 0)) return std::nullopt;
  if (rows->paragraphs && rows->record_lines > 0)
    throw UsageError("rows are paragraphs, or so many lines each; leave one of them out");
  if (rows->header_lines > 0) throw UsageError("rows of several lines have no header; leave it out");
  if (rows->terminator != '\n') throw UsageError("rows of several lines are of lines that end with '\\n'");
  if (request.place.kind != PlaceKind::file)
    throw UsageError("rows of several lines go to another file, without a job that can be resumed");
  return rows->paragraphs ? lines::LineGroups::paragraphs() : lines::LineGroups::of_lines(rows->record_lines);
}

}  // namespace ecosort::job
