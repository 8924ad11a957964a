// -g: what strtold reads, as integers that compare like it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/uint128.h"
#include "formats/lines/round_decimal.h"
#include "formats/lines/text.h"
#include "formats/records/encoder.h"

namespace ecosort::lines {

// Texts without a number come first, then NaN, then the numbers. NaNs have the order of their bytes in memory, so that -nan comes
// behind nan, and nan(5) has a place of its own.
struct General {
  enum class Kind : std::uint8_t { none, nan, number };

  Kind kind = Kind::none;
  uint128 value = 0;  // LongDouble::value_bytes of it count; numbers that round to the same long double have the same
};
[[nodiscard]] General read_general(Text text);
[[nodiscard]] int compare(const General& a, const General& b) noexcept;

// Reads a text that begins with white space, a sign, at most 19 digits in all, a point among them, and an exponent; nothing for
// what is not plain enough to be read at once. Looks at no byte behind the number but the next one.
[[nodiscard]] std::optional<General> plain_general(Text text) noexcept;

[[nodiscard]] std::size_t general_length(Text text);  // of what read_general takes for the number, white space in front included

// Bytes that order numbers when read as unsigned bytes; returns how many, at most general_bytes.
constexpr std::size_t general_bytes = 1 + LongDouble::value_bytes;
[[nodiscard]] std::size_t encode(const General& number, unsigned char* to) noexcept;

// The window of these bytes, where plain_general() reads the text and they fit.
[[nodiscard]] std::optional<records::KeyWindow> general_window(Text text) noexcept;

// Returns whether a number ends at this byte whatever follows, so that a field that it ends need not be cut out for
// plain_general().
[[nodiscard]] constexpr bool ends_general(char c) noexcept {
  return c > 0 && !is_digit(c) && !is_letter(c) && !is_space(c) && c != '.' && c != '-' && c != '+';
}

}  // namespace ecosort::lines
