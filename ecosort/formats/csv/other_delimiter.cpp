#include "formats/csv/other_delimiter.h"

#include "formats/csv/check_row.h"

namespace ecosort::csv {
namespace {

// The longer of two that begin alike comes first.
constexpr Delimiter usual[] = {';', '\t', ',', Delimiter("||"), '|', ':', '~', '\x01'};

}  // namespace

std::optional<Delimiter> other_delimiter(Text row, Dialect dialect, const Fits& fits) {
  const Delimiter known = dialect.delimiter;
  for (const Delimiter& delimiter : usual) {
    const auto is_taken = [&](std::optional<char> by) { return by && delimiter.text().find(*by) != std::string_view::npos; };
    if (delimiter == known || is_taken(dialect.quote) || is_taken(dialect.escape)) continue;
    dialect.delimiter = delimiter;
    const SplitRow split = split_row(row, dialect);
    if (!split.fault && split.fields.size() > 1 && fits(split.fields, dialect)) return delimiter;
  }
  return std::nullopt;
}

}  // namespace ecosort::csv
