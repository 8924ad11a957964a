#include "lines/quoted.h"

#include <fmt/format.h>

#include <algorithm>

#include "lines/text.h"

namespace ecosort::lines {
namespace {

std::string escaped(char c) {
  constexpr std::string_view letters = "abtnvfr";  // of bytes 7 to 13
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= 7 && byte < 7 + letters.size()) return {'\\', letters[byte - 7]};
  return fmt::format("\\{:03o}", byte);
}

bool is_special(char c) noexcept { return std::string_view(" !\"$&'()*;<=>[\\^`|?:").find(c) != std::string_view::npos; }

bool needs_quotes(std::string_view name) {
  return name.empty() || name[0] == '#' || name[0] == '~' || name == "{" || name == "}" ||
         std::ranges::any_of(name, [](char c) { return is_special(c) || !is_printable(c); });
}

// Where an apostrophe is all that is special, but for what double quotes make harmless.
bool fits_double_quotes(std::string_view name) {
  return name.find('\'') != std::string_view::npos && std::ranges::none_of(name, [](char c) {
           return !is_printable(c) || std::string_view("!\"$\\`").find(c) != std::string_view::npos;
         });
}

}  // namespace

std::string quoted_word(std::string_view word) {
  std::string text = "'";
  for (const char c : word) {
    if (!is_printable(c)) {
      text += escaped(c);
      continue;
    }
    if (c == '\'' || c == '\\') text += '\\';
    text += c;
  }
  return text + "'";
}

std::string quoted_name(std::string_view name) {
  if (!needs_quotes(name)) return std::string(name);
  if (fits_double_quotes(name)) return fmt::format("\"{}\"", name);
  std::string text = "'";
  bool is_escaping = false;  // within $'...'
  for (const char c : name) {
    const bool escapes = !is_printable(c);
    if (escapes != is_escaping) text += escapes ? "'$'" : "''";
    is_escaping = escapes;
    if (escapes)
      text += escaped(c);
    else if (c == '\'')
      text += "'\\''";
    else
      text += c;
  }
  return text + "'";
}

}  // namespace ecosort::lines
