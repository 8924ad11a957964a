#include "formats/row_format.h"

#include <algorithm>

#include "base/errors.h"

namespace ecosort::rows {

std::string shown_name(const std::string& input) { return input == "-" ? "standard input" : input; }

std::size_t byte_order_mark_bytes(Text first) noexcept { return first.starts_with("\xef\xbb\xbf") ? 3 : 0; }

std::string_view end_like(Text row, char before_end) noexcept {
  return before_end == '\r' && !row.ends_with('\r') ? "\r\n" : "\n";
}

void add(std::vector<KeyCounts>& sum, const std::vector<KeyCounts>& more) {
  sum.resize(std::max(sum.size(), more.size()));
  for (std::size_t i = 0; i < more.size(); ++i) {
    sum[i].empty += more[i].empty;
    sum[i].unparsable += more[i].unparsable;
  }
}

Gather RowFormat::quoted_gather() const { throw InternalError("a format without quotes has no rows with them"); }

const char* RowFormat::find_quoted_end(const char* /*at*/, const char* /*end*/, bool& /*is_inside*/) const {
  throw InternalError("a format without quotes has no ends outside of them");
}

bool RowFormat::descends(unsigned /*level*/) const {
  throw InternalError("a format whose keys are no rows has no order of them");
}

std::size_t RowFormat::mark_bytes(Text /*first*/) const { return 0; }
bool RowFormat::wants_first_row() const { return false; }
FirstRow RowFormat::take_first_row(const std::string& /*input*/, Text /*row*/) { return FirstRow::is_sorted; }
std::uint64_t RowFormat::top_rows_to_come() const { return 0; }
void RowFormat::set_top_rows_to_come(std::uint64_t rows) {
  if (rows > 0) throw InternalError("a format that does not count the rows on top cannot continue among them");
}
void RowFormat::begin_input() {}
void RowFormat::go_on_in_input() {}
void RowFormat::miss_first_row(const std::string& /*input*/) const {}
std::string_view RowFormat::missing_end(Text /*row*/, char /*before_end*/) const { return {&terminator_, 1}; }
std::optional<Fault> RowFormat::fault_in(Text /*beginning*/, bool /*is_all*/) const { return std::nullopt; }

}  // namespace ecosort::rows
