#include "formats/lines/quoted.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "formats/lines/text.h"

namespace ecosort::lines {
namespace {

std::string escaped(char c) {
  constexpr std::string_view letters = "abtnvfr";  // of bytes 7 to 13
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= 7 && byte < 7 + letters.size()) return {'\\', letters[byte - 7]};
  return fmt::format("\\{:03o}", byte);
}

// Bytes of the UTF-8 character at the front; 0 where there is none, for ASCII, and for control characters (U+0080 to U+009F).
std::size_t beyond_ascii(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t length = lead >= 0xf0 && lead < 0xf5 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
  if (length == 0 || lead >= 0xf5 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xc0U) != 0x80) return 0;
  return lead == 0xc2 && static_cast<unsigned char>(text[1]) < 0xa0 ? 0 : length;
}

bool environment_is_utf8() {
  for (const char* variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* const value = std::getenv(variable);
    if (value == nullptr || *value == '\0') continue;
    const std::string_view locale = value;
    return locale.find("UTF-8") != std::string_view::npos || locale.find("utf8") != std::string_view::npos;
  }
  return false;
}

// A character at the front that is shown as it is: its bytes, or 0.
std::size_t plain_bytes(std::string_view text, bool is_utf8) {
  return is_printable(text[0]) ? 1 : is_utf8 ? beyond_ascii(text) : 0;
}

bool is_special(char c) noexcept { return std::string_view(" !\"$&'()*;<=>[\\^`|?:").find(c) != std::string_view::npos; }

bool is_plain(std::string_view text) {
  const bool is_utf8 = environment_is_utf8();
  while (!text.empty()) {
    const std::size_t bytes = plain_bytes(text, is_utf8);
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

bool needs_quotes(std::string_view name) {
  return name.empty() || name[0] == '#' || name[0] == '~' || name == "{" || name == "}" ||
         std::ranges::any_of(name, is_special) || !is_plain(name);
}

// Returns whether an apostrophe is all that is special, but for what double quotes make harmless.
bool fits_double_quotes(std::string_view name) {
  return name.find('\'') != std::string_view::npos && name.find_first_of("!\"$\\`") == std::string_view::npos && is_plain(name);
}

}  // namespace

std::string quoted_word(std::string_view word) {
  const bool is_utf8 = environment_is_utf8();
  std::string text = "'";
  while (!word.empty()) {
    const std::size_t bytes = plain_bytes(word, is_utf8);
    if (bytes == 0)
      text += escaped(word[0]);
    else
      text.append(word[0] == '\'' || word[0] == '\\' ? "\\" : "").append(word.substr(0, bytes));
    word.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return text + "'";
}

std::string quoted_name(std::string_view name) {
  if (!needs_quotes(name)) return std::string(name);
  if (fits_double_quotes(name)) return fmt::format("\"{}\"", name);
  const bool is_utf8 = environment_is_utf8();
  std::string text = "'";
  bool is_escaping = false;  // within $'...'
  while (!name.empty()) {
    const std::size_t bytes = plain_bytes(name, is_utf8);
    const bool escapes = bytes == 0;
    if (escapes != is_escaping) text += escapes ? "'$'" : "''";
    is_escaping = escapes;
    if (escapes)
      text += escaped(name[0]);
    else
      text.append(name[0] == '\'' ? "'\\''" : name.substr(0, bytes));
    name.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return text + "'";
}

}  // namespace ecosort::lines
