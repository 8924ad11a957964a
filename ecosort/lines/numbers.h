// What keys that are not plain text mean: numbers (-n, -h, -g) and months (-M), as sort(1) and its manual define them for the C
// locale.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lines/text.h"

namespace ecosort::lines {

// A decimal number of any length: blanks, an optional minus sign, digits, an optional fraction. What follows does not matter, and
// no digits mean zero. Points into the text.
struct Decimal {
  bool negative = false;        // never for zero
  std::size_t whole = 0;        // digits before the point, without leading zeros
  std::size_t significant = 0;  // digits in all up to the last one that is not zero; 0 for zero
  const char* whole_digits = nullptr;
  const char* fraction_digits = nullptr;

  [[nodiscard]] char digit(std::size_t i) const noexcept { return i < whole ? whole_digits[i] : fraction_digits[i - whole]; }
};
[[nodiscard]] Decimal read_decimal(Text text) noexcept;
[[nodiscard]] int compare(const Decimal& a, const Decimal& b) noexcept;

// Bytes skip ... of a text that orders numbers as compare() does when read as unsigned bytes, a beginning before what it begins.
// At most `room` of them; returns how many.
[[nodiscard]] std::size_t encode(const Decimal& number, std::size_t skip, unsigned char* to, std::size_t room) noexcept;

// The unit behind a number (-h): 0 for none, 1 for K or k, 2 for M ... 8 for Y; negative behind a negative number.
[[nodiscard]] int unit_of(Text text) noexcept;

// -g: what strtold reads. Texts without a number come first, then NaN, then the numbers.
struct General {
  enum class Kind : std::uint8_t { none, nan, negative_nan, number };
  Kind kind = Kind::none;
  long double value = 0;
};
[[nodiscard]] General read_general(Text text);
[[nodiscard]] int compare(const General& a, const General& b) noexcept;

// -M: 1 ... 12, 0 for what is no month.
[[nodiscard]] int month_of(Text text) noexcept;

// -V: the order of version numbers in file names (coreutils manual, "Version sort ordering").
[[nodiscard]] int compare_versions(Text a, Text b) noexcept;

}  // namespace ecosort::lines
