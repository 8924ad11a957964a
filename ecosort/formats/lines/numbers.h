// Defines what keys that are not plain text mean: decimal numbers (-n, -h) and months (-M), as sort(1) and its manual define them
// for the C locale.
#pragma once

#include <cstddef>
#include <string>

#include "formats/lines/text.h"

namespace ecosort::lines {

// A decimal number of any length: blanks, an optional minus sign, digits, an optional fraction. What follows does not matter, and
// no digits mean zero. Points into the text.
struct Decimal {
  bool negative = false;        // never for zero
  std::size_t whole = 0;        // digits before the point, without leading zeros
  std::size_t significant = 0;  // digits in all up to the last one that is not zero; 0 for zero
  const char* whole_digits = nullptr;
  const char* fraction_digits = nullptr;
  bool is_cut = false;  // a separator ends the digits before the point, see SeparatedDecimal

  [[nodiscard]] char digit(std::size_t i) const noexcept { return i < whole ? whole_digits[i] : fraction_digits[i - whole]; }
};
[[nodiscard]] Decimal read_decimal(Text text) noexcept;
[[nodiscard]] int compare(const Decimal& a, const Decimal& b) noexcept;

// The number in which separators of thousands do not count. The C locale has none, and sort 9.1 takes byte 0x80 for it: that one
// is passed over in front of and among the digits before the point. Holds those digits where the text has such bytes.
class SeparatedDecimal {
 public:
  explicit SeparatedDecimal(Text text) : number_(read_decimal(text)) {
    if (number_.is_cut) join(text);
  }
  SeparatedDecimal(const SeparatedDecimal&) = delete;
  SeparatedDecimal& operator=(const SeparatedDecimal&) = delete;
  ~SeparatedDecimal() = default;

  [[nodiscard]] const Decimal& operator*() const noexcept { return number_; }

 private:
  void join(Text text);

  std::string joined_;
  Decimal number_;
};

// Bytes skip ... of a text that orders numbers as compare() does when read as unsigned bytes, a beginning before what it begins.
// At most `room` of them; returns how many.
[[nodiscard]] std::size_t encode(const Decimal& number, std::size_t skip, unsigned char* to, std::size_t room) noexcept;

// The number at the beginning of a text without blanks in front: bytes, 0 for none. Separators of thousands end it, as they do
// where sort underlines it.
[[nodiscard]] std::size_t decimal_length(Text text) noexcept;
[[nodiscard]] bool has_unit(Text text) noexcept;  // whether a letter of a unit follows it

// The unit behind a number (-h): 0 for none, 1 for K or k, 2 for M ... 8 for Y; negative behind a negative number.
[[nodiscard]] int unit_of(Text text) noexcept;

// -M: 1 ... 12, 0 for what is no month.
[[nodiscard]] int month_of(Text text) noexcept;

}  // namespace ecosort::lines
