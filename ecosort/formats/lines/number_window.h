// Windows of usual numbers (-n), without a loop over their digits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/cpu_features.h"
#include "formats/lines/text.h"
#include "formats/records/encoder.h"

namespace ecosort::lines {

// The number that a text begins with, as LineOrder makes its window from encode(read_decimal(text)), and what it takes of the
// text. Fits in two registers, in which it is returned.
struct NumberWindow {
  static constexpr std::uint16_t none = std::numeric_limits<std::uint16_t>::max();

  std::uint64_t prefix = 0;
  std::uint32_t extension = 0;
  std::uint16_t length = none;  // bytes from the beginning of the text on, blanks included
  bool has_point = false, has_digits = false;

  // False: anything is in the other fields.
  [[nodiscard]] bool is_there() const noexcept { return length != none; }
  [[nodiscard]] records::KeyWindow window() const noexcept { return {prefix, extension}; }
};

// None for numbers of more than 14 digits behind leading zeros, and for what is not plain enough to be read at once: the number
// with its sign and its leading zeros has 16 bytes at most.
using NumberReader = NumberWindow (*)(const char* text, std::size_t size) noexcept;

// Returns the reader of cpu_level().
[[nodiscard]] NumberReader number_reader();

// Returns the reader of a level, which must not exceed detected_cpu_level(); all give the same values.
[[nodiscard]] NumberReader number_reader_of(CpuLevel level) noexcept;
[[nodiscard]] NumberWindow read_number_avx2(const char* text, std::size_t size) noexcept;
[[nodiscard]] NumberWindow read_number_avx512(const char* text, std::size_t size) noexcept;
[[nodiscard]] NumberWindow read_number_neon(const char* text, std::size_t size) noexcept;

// Returns whether a number ends at this byte whatever follows, so that a field that it ends need not be cut out.
[[nodiscard]] constexpr bool ends_number(char c) noexcept {
  return c > 0 && !is_digit(c) && !is_blank(c) && c != '.' && c != '-';
}

}  // namespace ecosort::lines
