// Lines and the character classes of the C locale.
#pragma once

#include <cstddef>
#include <cstring>

#include "base/text.h"

namespace ecosort::lines {

// Blanks separate fields where no -t is given, and -b skips them. A newline counts where lines end with NUL (-z).
[[nodiscard]] constexpr bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\n'; }
[[nodiscard]] constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
[[nodiscard]] constexpr bool is_space(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }
[[nodiscard]] constexpr bool is_upper(char c) noexcept { return c >= 'A' && c <= 'Z'; }
[[nodiscard]] constexpr bool is_lower(char c) noexcept { return c >= 'a' && c <= 'z'; }
[[nodiscard]] constexpr bool is_letter(char c) noexcept { return is_upper(c) || is_lower(c); }
[[nodiscard]] constexpr bool is_printable(char c) noexcept { return c >= ' ' && c <= '~'; }
[[nodiscard]] constexpr char to_upper(char c) noexcept { return is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c; }

[[nodiscard]] constexpr Text without_leading_blanks(Text text) noexcept {
  std::size_t i = 0;
  while (i < text.size() && is_blank(text[i])) ++i;
  return text.substr(i);
}

[[nodiscard]] constexpr Text without_blanks(Text text) noexcept {
  text = without_leading_blanks(text);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// A number in a word may have white space and a plus sign in front; without digits behind them nothing is taken off.
[[nodiscard]] constexpr Text without_number_beginning(Text text) noexcept {
  std::size_t i = 0;
  while (i < text.size() && is_space(text[i])) ++i;
  if (i < text.size() && text[i] == '+') ++i;
  return i < text.size() && is_digit(text[i]) ? text.substr(i) : text;
}

[[nodiscard]] constexpr int sign_of(std::ptrdiff_t difference) noexcept { return (difference > 0) - (difference < 0); }

// The first four or eight bytes as a number: numbers compare as the bytes do.
template <class Word>
[[nodiscard]] Word load_big_endian(const char* at) noexcept {
  Word word = 0;
  std::memcpy(&word, at, sizeof word);
  if constexpr (sizeof word == 8)
    return __builtin_bswap64(word);
  else
    return __builtin_bswap32(word);
}

[[nodiscard]] inline int compare_bytes(Text a, Text b) noexcept { return a.compare(b); }

}  // namespace ecosort::lines
