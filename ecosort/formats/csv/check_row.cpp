#include "formats/csv/check_row.h"

#include <fmt/format.h>

#include <algorithm>

namespace ecosort::csv {
namespace {

constexpr Text not_closed = "a quote is opened and not closed";
constexpr Text behind_close = "something follows the quote that closes a value; a quote within a value is doubled";
constexpr Text within_value = "a quote is within a value that does not begin with one";

formats::RowFault quote_fault(std::size_t at, Text why) { return {at, std::string(why), true}; }

// Behind the quote that closes the value which the one at `at` opens; npos if none does.
std::size_t behind_quoted(Text row, std::size_t at, char quote) {
  for (std::size_t from = at + 1;;) {
    const std::size_t found = row.find(quote, from);
    if (found == Text::npos) return Text::npos;
    if (found + 1 == row.size() || row[found + 1] != quote) return found + 1;
    from = found + 2;
  }
}

bool ends_row(Text row, std::size_t at) { return at == row.size() || (at + 1 == row.size() && row[at] == '\r'); }

// Finds where the field at `at` ends. Sets the fault, if there is one.
std::size_t field_end(Text row, std::size_t at, Dialect dialect, bool is_all, std::optional<formats::RowFault>& fault) {
  if (dialect.quote && at < row.size() && row[at] == *dialect.quote) {
    const std::size_t end = behind_quoted(row, at, *dialect.quote);
    if (end == Text::npos) {
      if (is_all) fault = quote_fault(at, not_closed);
      return row.size();
    }
    if (!ends_row(row, end) && row[end] != dialect.delimiter) fault = quote_fault(end, behind_close);
    return end;
  }
  std::size_t end = std::min(row.find(dialect.delimiter, at), row.size());
  if (dialect.quote)
    if (const std::size_t quote = row.substr(at, end - at).find(*dialect.quote); quote != Text::npos)
      fault = quote_fault(at + quote, within_value);
  if (end == row.size() && end > at && row.back() == '\r') --end;
  return end;
}

}  // namespace

SplitRow split_row(Text row, Dialect dialect, bool is_all) {
  SplitRow split;
  for (std::size_t at = 0;;) {
    const std::size_t end = field_end(row, at, dialect, is_all, split.fault);
    if (split.fault) return split;
    split.fields.push_back(row.substr(at, end - at));
    if (ends_row(row, end)) return split;
    at = end + 1;
  }
}

formats::RowFault ragged_row(Text row, std::size_t fields, std::size_t columns, bool has_header) {
  const std::string has =
      fmt::format("{} {} column{}", has_header ? "the header has" : "the first row has", columns, columns == 1 ? "" : "s");
  if (row.empty() || row == "\r") return {0, fmt::format("the line is empty, and {}", has)};
  return {0, fmt::format("the row has {} field{}, and {}", fields, fields == 1 ? "" : "s", has)};
}

}  // namespace ecosort::csv
