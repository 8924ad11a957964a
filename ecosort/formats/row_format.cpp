#include "formats/row_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/errors.h"

namespace ecosort::formats {

std::vector<std::byte> RowFormat::order_bytes() const { return {}; }

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
    sum[i].absent += more[i].absent;
    sum[i].repeated += more[i].repeated;
  }
}

void subtract(std::vector<KeyCounts>& sum, const std::vector<KeyCounts>& less) {
  for (std::size_t i = 0; i < less.size(); ++i) {
    sum[i].empty -= less[i].empty;
    sum[i].unparsable -= less[i].unparsable;
    sum[i].absent -= less[i].absent;
  }
}

void add(RepeatedHeader& sum, const RepeatedHeader& more) {
  const std::uint64_t rows = sum.rows + more.rows;
  if (sum.rows == 0) sum = more;
  sum.rows = rows;
}

std::string notice_of(const RepeatedHeader& repeated) {
  if (repeated.rows == 0) return "";
  const std::string others = repeated.rows == 1 ? "" : fmt::format(" ({} rows do so)", repeated.rows);
  return fmt::format(
      "{}: line {} equals the header and was sorted as a row{}; where files were joined, name each of them as an input instead",
      shown_name(repeated.input), repeated.line, others);
}

Gather RowFormat::quoted_gather() const { throw InternalError("a format without quotes has no rows with them"); }

const char* RowFormat::find_walked_end(const char* /*at*/, const char* /*end*/, Inside& /*inside*/) const {
  throw InternalError("rows that are not walked end with the first terminator");
}

bool RowFormat::descends(unsigned /*level*/) const {
  throw InternalError("a format whose keys are no rows has no order of them");
}

std::optional<std::string> RowFormat::first_value(Text /*row*/) const {
  throw InternalError("a format whose keys have no names has no values of them");
}

bool RowFormat::are_first_values_equal(Text /*a*/, Text /*b*/) const {
  throw InternalError("a format whose keys have no names has no values of them");
}

std::size_t RowFormat::mark_bytes(Text /*first*/) const { return 0; }
bool RowFormat::is_blank_end(Text /*rest*/) const { return false; }
bool RowFormat::wants_first_row() const { return false; }
const char* RowFormat::find_first_row_end(const char* at, const char* end) const {
  Inside inside;
  return find_end(at, end, inside);
}
FirstRow RowFormat::take_first_row(const std::string& /*input*/, Text /*row*/) { return FirstRow::is_sorted; }
bool RowFormat::keys_need_first_row() const { return false; }
bool RowFormat::precedes_first_row(Text /*line*/) const { return false; }
void RowFormat::begin_input() {}
void RowFormat::go_on_in_input() {}
void RowFormat::miss_first_row(const std::string& /*input*/) const {}
void RowFormat::learn(const std::vector<KeyCounts>& /*counts*/) const {}
void RowFormat::check_counts(const std::vector<KeyCounts>& /*counts*/, std::uint64_t /*rows*/) const {}
void RowFormat::count_in_front(Text /*row*/, std::uint64_t rows, CountText& to) const {
  to.text.clear();
  fmt::format_to(std::back_inserter(to.text), "{:7} ", rows);  // as uniq -c has it
}
std::string RowFormat::top_of_counted(const std::string& top) const { return top; }
std::string_view RowFormat::missing_end(Text /*row*/, char /*before_end*/) const { return {&terminator_, 1}; }
std::optional<RowFault> RowFormat::fault_in(Text /*beginning*/, bool /*is_all*/) const { return std::nullopt; }

}  // namespace ecosort::formats
