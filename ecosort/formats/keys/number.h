// Numbers in tables: decimal, of any length, with an exponent or without, and exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/text.h"

namespace ecosort::keys {

// formats/lines/number_bytes.h reads a number through these. Points into the text.
struct Number {
  bool negative = false;
  std::size_t whole = 0;
  std::size_t significant = 0;

  [[nodiscard]] char digit(std::size_t i) const noexcept {
    if (i < zeros) return '0';
    i -= zeros;
    return i < before_count ? before[i] : behind[i - before_count];
  }

  std::size_t zeros = 0;         // behind the point, in front of the first digit in the text that counts
  std::size_t before_count = 0;  // digits in front of the point in the text
  const char* before = nullptr;
  const char* behind = nullptr;
};

// Blanks around it; a sign; digits with a point among them or not; `e` and an exponent of at most five digits that are not
// leading zeros. Nothing for all other texts, infinity and NaN among them.
[[nodiscard]] std::optional<Number> read_number(Text text) noexcept;
// Reads what has neither a point nor an exponent.
[[nodiscard]] std::optional<Number> read_integer(Text text) noexcept;

// Takes a minus or plus off the text, and returns whether there was a minus.
[[nodiscard]] bool take_sign(Text& text) noexcept;
// Returns the number with these digits in front of the point and behind it, times ten to the exponent; it points into them.
[[nodiscard]] Number number_of(bool is_negative, Text before, Text behind, std::int64_t exponent) noexcept;
// Reads all of a text that follows `e`.
[[nodiscard]] std::optional<std::int64_t> read_exponent(Text text) noexcept;

}  // namespace ecosort::keys
