#include "job/line_groups.h"

#include <fmt/format.h>

#include "base/errors.h"

namespace ecosort::job {
namespace {

void check_record_start(const std::string& start) {
  if (start.size() > formats::RecordMarks::most_start_bytes)
    throw UsageError(fmt::format("the text that records begin with has at most {} bytes; give less of it",
                                 formats::RecordMarks::most_start_bytes));
  for (const char c : start)
    if (c == '\0' || c == '\n') throw UsageError("the text that records begin with is of one line, without NUL");
}

void check(const Request& request, const Lines& rows) {
  if (rows.paragraphs + (rows.record_lines > 0 ? 1 : 0) + (rows.record_start.empty() ? 0 : 1) > 1)
    throw UsageError("rows are paragraphs, or so many lines each, or begin with a text; ask for one of these");
  if (rows.header_lines > 0 || !rows.header_mark.empty()) throw UsageError("rows of several lines have no header; leave it out");
  if (rows.terminator != '\n') throw UsageError("rows of several lines are of lines that end with '\\n'");
  const bool may_be_resumed = !rows.record_start.empty();
  if (request.place.kind == PlaceKind::in_place || (request.place.kind == PlaceKind::resumable && !may_be_resumed))
    throw UsageError(
        "rows of several lines go to another file, and a job that can be resumed has those that begin with a text alone");
  check_record_start(rows.record_start);
}

const Lines* rows_of_several_lines(const Request& request) {
  const Lines* const rows = std::get_if<Lines>(&request.rows);
  if (rows == nullptr || (!rows->paragraphs && rows->record_lines == 0 && rows->record_start.empty())) return nullptr;
  check(request, *rows);
  return rows;
}

}  // namespace

void check_line_groups(const Request& request) { (void)rows_of_several_lines(request); }

std::optional<lines::LineGroups> line_groups_of(const Request& request) {
  const Lines* const rows = rows_of_several_lines(request);
  if (rows == nullptr || !rows->record_start.empty()) return std::nullopt;
  return rows->paragraphs ? lines::LineGroups::paragraphs() : lines::LineGroups::of_lines(rows->record_lines);
}

std::optional<formats::RecordMarks> record_marks_of(const Request& request) {
  const Lines* const rows = rows_of_several_lines(request);
  if (rows == nullptr || rows->record_start.empty()) return std::nullopt;
  return formats::RecordMarks(rows->record_start);
}

}  // namespace ecosort::job
