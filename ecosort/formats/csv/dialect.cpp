#include "formats/csv/dialect.h"

#include "formats/lines/text.h"

namespace ecosort::csv {

// Excel reads the word in any case, and in quotes, too. A letter or a digit delimits nothing: the line is a header then.
std::optional<char> named_delimiter(std::string_view line, Dialect dialect) noexcept {
  constexpr std::string_view word = "SEP=";
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (dialect.quote && line.size() > 2 && line.front() == *dialect.quote && line.back() == *dialect.quote)
    line = line.substr(1, line.size() - 2);
  if (line.size() != word.size() + 1) return std::nullopt;
  for (std::size_t i = 0; i < word.size(); ++i)
    if (lines::to_upper(line[i]) != word[i]) return std::nullopt;
  const char named = line.back();
  const bool can_delimit =
      !lines::is_letter(named) && !lines::is_digit(named) && named != dialect.quote && named != dialect.escape && named != '\r';
  return can_delimit ? std::optional(named) : std::nullopt;
}

bool is_escaped(Text text, std::size_t at, Dialect dialect) noexcept {
  std::size_t escapes = 0;
  while (escapes < at && text[at - escapes - 1] == dialect.escape) ++escapes;
  return escapes % 2 != 0;
}

}  // namespace ecosort::csv
