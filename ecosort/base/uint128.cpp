#include "base/uint128.h"

#include <fmt/format.h>

#include <algorithm>

namespace ecosort {

std::string to_decimal(uint128 value) {
  std::string digits;
  do {
    digits.push_back(static_cast<char>('0' + static_cast<int>(value % 10)));
    value /= 10;
  } while (value != 0);
  std::reverse(digits.begin(), digits.end());
  return digits;
}

std::string to_hex(uint128 value) {
  if (high_half(value) == 0) return fmt::format("{:x}", low_half(value));
  return fmt::format("{:x}{:016x}", high_half(value), low_half(value));
}

bool is_decimal(std::string_view text) noexcept {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<uint128> parse_decimal(std::string_view text) {
  if (!is_decimal(text)) return std::nullopt;
  constexpr uint128 largest = ~uint128{0};
  uint128 value = 0;
  for (const char c : text) {
    const auto digit = static_cast<unsigned>(c - '0');
    if (value > (largest - digit) / 10) return std::nullopt;
    value = value * 10 + digit;
  }
  return value;
}

}  // namespace ecosort
