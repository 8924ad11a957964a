#include "formats/csv/check_row.h"

#include <fmt/format.h>

#include <algorithm>

namespace ecosort::csv {
namespace {

constexpr Text not_closed = "a quote is opened and not closed";
constexpr Text behind_close = "something follows the quote that closes a value; a quote within a value is doubled";
constexpr Text within_value = "a quote is within a value that does not begin with one";
constexpr Text nothing_escaped = "the row ends with an escape";

formats::RowFault quote_fault(std::size_t at, Text why) { return {at, std::string(why), true}; }

// Finds a text from `at` on whose first byte is not escaped; the end of the row if there is none, or behind it where the row ends
// with an escape.
std::size_t find_unescaped(Text row, std::size_t at, Text text, Dialect dialect) {
  if (!dialect.escape) return std::min(row.find(text, at), row.size());
  for (; at < row.size(); ++at) {
    if (row[at] == *dialect.escape)
      ++at;
    else if (row[at] == text.front() && row.substr(at).starts_with(text))
      return at;
  }
  return at;
}

// Behind the quote that closes the value which the one at `at` opens; npos if none does.
std::size_t behind_quoted(Text row, std::size_t at, Dialect dialect) {
  const Text quote(&*dialect.quote, 1);
  for (std::size_t from = at + 1;;) {
    const std::size_t found = find_unescaped(row, from, quote, dialect);
    if (found >= row.size()) return Text::npos;
    if (found + 1 == row.size() || row[found + 1] != quote[0]) return found + 1;
    from = found + 2;
  }
}

bool ends_row(Text row, std::size_t at) { return at == row.size() || (at + 1 == row.size() && row[at] == '\r'); }

// Finds where the field at `at` ends. Sets the fault, if there is one.
std::size_t field_end(Text row, std::size_t at, Dialect dialect, bool is_all, std::optional<formats::RowFault>& fault) {
  if (dialect.quote && at < row.size() && row[at] == *dialect.quote) {
    const std::size_t end = behind_quoted(row, at, dialect);
    if (end == Text::npos) {
      if (is_all) fault = quote_fault(at, not_closed);
      return row.size();
    }
    const Text rest = row.substr(end);
    if (ends_row(row, end) || rest.starts_with(dialect.delimiter.text())) return end;
    if (!is_all && dialect.delimiter.text().starts_with(rest)) return row.size();  // a delimiter that is not whole yet
    fault = quote_fault(end, behind_close);
    return end;
  }
  std::size_t end = find_unescaped(row, at, dialect.delimiter.text(), dialect);
  if (end > row.size()) {
    if (is_all) fault = quote_fault(row.size() - 1, nothing_escaped);
    end = row.size();
  }
  if (dialect.quote)
    if (const std::size_t quote = find_unescaped(row.substr(0, end), at, {&*dialect.quote, 1}, dialect); quote < end)
      fault = quote_fault(quote, within_value);
  return end == row.size() ? at + without_return(row.substr(at), dialect).size() : end;
}

}  // namespace

SplitRow split_row(Text row, Dialect dialect, bool is_all) {
  SplitRow split;
  for (std::size_t at = 0;;) {
    const std::size_t end = field_end(row, at, dialect, is_all, split.fault);
    if (split.fault) return split;
    split.fields.push_back(row.substr(at, end - at));
    if (ends_row(row, end)) return split;
    at = end + dialect.delimiter.size();
  }
}

formats::RowFault ragged_row(Text row, std::size_t fields, std::size_t columns, bool has_header) {
  const std::string has =
      fmt::format("{} {} column{}", has_header ? "the header has" : "the first row has", columns, columns == 1 ? "" : "s");
  if (row.empty() || row == "\r") return {0, fmt::format("the line is empty, and {}", has)};
  return {0, fmt::format("the row has {} field{}, and {}", fields, fields == 1 ? "" : "s", has)};
}

}  // namespace ecosort::csv
