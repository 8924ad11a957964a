// Windows of usual numbers (-n), without a loop over their digits.
#pragma once

#include <cstddef>
#include <optional>

#include "base/cpu_features.h"
#include "formats/fixed/encoder.h"
#include "formats/lines/text.h"

namespace ecosort::lines {

// The window of the number that the text begins with, as LineOrder makes it from encode(read_decimal(text)). Nothing for numbers
// of more than 14 digits from the first to the last that is not zero, and for what is not plain enough to be read at once.
[[nodiscard]] std::optional<records::KeyWindow> number_window(Text text) noexcept;

// The same, and what the number takes of the text: bytes from the beginning of the text on, blanks included.
struct NumberWindow {
  records::KeyWindow window{};
  std::size_t length = 0;
  bool has_point = false, has_digits = false;

  // The window, field by field: one load of both would have to wait until the two stores before it have reached the cache.
  [[nodiscard]] records::KeyWindow key_window() const noexcept { return {window.prefix, window.extension}; }
};
// False: nothing, and `number` holds anything.
[[nodiscard]] bool read_number_window(Text text, NumberWindow& number) noexcept;

// That which read_number_window() uses at a level, which must not exceed records::detected_cpu_level(); all give the same
// values.
using NumberReader = bool (*)(const char* text, std::size_t size, NumberWindow& number) noexcept;
[[nodiscard]] NumberReader number_reader_of(records::CpuLevel level) noexcept;
[[nodiscard]] bool read_number_avx2(const char* text, std::size_t size, NumberWindow& number) noexcept;

// Whether a number ends at this byte whatever follows, so that a field that it ends need not be cut out.
[[nodiscard]] constexpr bool ends_number(char c) noexcept {
  return c > 0 && !is_digit(c) && !is_blank(c) && c != '.' && c != '-';
}

}  // namespace ecosort::lines
