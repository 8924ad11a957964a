// A dialect says how values are written in a row of CSV (RFC 4180).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/text.h"

namespace ecosort::csv {

// Some bytes between values, mostly one.
class Delimiter {
 public:
  static constexpr std::size_t most_bytes = 8;

  constexpr Delimiter(char byte) noexcept : bytes_{byte}, size_(1) {}  // NOLINT(google-explicit-constructor): it is one
  // Takes 1 to most_bytes bytes.
  explicit constexpr Delimiter(std::string_view bytes) noexcept : bytes_{}, size_(static_cast<std::uint8_t>(bytes.size())) {
    std::copy_n(bytes.begin(), std::min(bytes.size(), most_bytes), bytes_.begin());
  }

  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  [[nodiscard]] constexpr char first() const noexcept { return bytes_[0]; }
  [[nodiscard]] constexpr std::string_view text() const noexcept { return {bytes_.data(), size_}; }
  friend bool operator==(const Delimiter&, const Delimiter&) = default;

 private:
  std::array<char, most_bytes> bytes_;
  std::uint8_t size_;
};

// A byte behind an escape means itself, inside of quotes and outside; some letters mean what they do in MySQL (value.h).
struct Dialect {
  Delimiter delimiter = ',';
  std::optional<char> quote = '"';  // none: quotes mean nothing
  std::optional<char> escape = {};  // none: there are no escapes

  // Returns whether rows can be read without a look at bytes around those that delimit.
  [[nodiscard]] bool is_simple() const noexcept { return !escape && delimiter.size() == 1; }
};

// The delimiter that a line "sep=;" names, with which spreadsheets let a file begin; nothing for another line.
[[nodiscard]] std::optional<char> named_delimiter(std::string_view line, Dialect dialect) noexcept;

// Returns whether the byte at `at` of a text that begins outside of an escape is escaped.
[[nodiscard]] bool is_escaped(Text text, std::size_t at, Dialect dialect) noexcept;

// A field or row without the carriage return of a row's end.
[[nodiscard]] inline Text without_return(Text text, Dialect dialect) noexcept {
  if (!text.ends_with('\r') || (dialect.escape && is_escaped(text, text.size() - 1, dialect))) return text;
  return text.substr(0, text.size() - 1);
}

}  // namespace ecosort::csv
