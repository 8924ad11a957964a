#include "formats/lines/number_window.h"

#include <bit>
#include <cstdint>
#include <cstring>

#include "base/uint128.h"
#include "formats/lines/numbers.h"

namespace ecosort::lines {
namespace {

constexpr std::uint64_t each_byte = 0x0101010101010101, upper_bits = 0x80 * each_byte;
constexpr std::size_t most_digits = 14;  // so that their pairs, and what ends a negative number, fit in eight bytes

// 16 bytes, the first one lowest; zeros behind the text.
uint128 load16(Text text) noexcept {
  std::uint64_t words[2] = {};
  if (text.size() >= sizeof words)
    std::memcpy(words, text.data(), sizeof words);
  else if (!text.empty())
    std::memcpy(words, text.data(), text.size());
  return make_uint128(words[1], words[0]);
}

std::uint64_t upper(uint128 x) noexcept { return static_cast<std::uint64_t>(x >> 64U); }
std::uint64_t lower(uint128 x) noexcept { return static_cast<std::uint64_t>(x); }

// The first `count` bytes, fewer than 16.
uint128 first_bytes(std::size_t count) noexcept { return (uint128{1} << 8 * count) - 1; }

// Upper bits of the bytes that are no digits; the text has no bytes from 0x80 on.
std::uint64_t non_digits(std::uint64_t bytes) noexcept {
  const std::uint64_t above = bytes + (0x7f - '9') * each_byte;
  const std::uint64_t not_below = bytes + (0x80 - '0') * each_byte;
  return (above | ~not_below) & upper_bits;
}

// How many digits the bytes begin with; 16 or fewer.
std::size_t count_digits(uint128 bytes) noexcept {
  if (const std::uint64_t first = non_digits(lower(bytes)); first != 0)
    return static_cast<std::size_t>(std::countr_zero(first)) / 8;
  const std::uint64_t second = non_digits(upper(bytes));
  return second == 0 ? 16 : 8 + static_cast<std::size_t>(std::countr_zero(second)) / 8;
}

// Four bytes 10 * tens + ones of eight digits.
std::uint32_t pairs_of(std::uint64_t digits) noexcept {
  constexpr std::uint64_t even = 0x00ff00ff00ff00ff;
  std::uint64_t pairs = (digits & even) * 10 + (digits >> 8U & even);
  pairs = (pairs | pairs >> 8U) & 0x0000ffff0000ffff;
  return static_cast<std::uint32_t>(pairs | pairs >> 16U);
}

}  // namespace

// In the words of numbers.cpp: a byte for the sign, one for the digits before the point, and one for each pair of digits, 1 to
// 100.
std::optional<NumberWindow> read_number_window(Text text) noexcept {
  const std::size_t given = text.size();
  text = without_leading_blanks(text);
  const bool is_negative = !text.empty() && text[0] == '-';
  if (is_negative) text.remove_prefix(1);
  const char* const first = text.data();
  while (!text.empty() && text[0] == '0') text.remove_prefix(1);
  uint128 bytes = load16(text);
  if (((lower(bytes) | upper(bytes)) & upper_bits) != 0) return std::nullopt;
  const std::size_t whole = count_digits(bytes);
  if (whole > most_digits) return std::nullopt;
  std::size_t digits = whole;
  NumberWindow number;
  if (static_cast<char>(lower(bytes >> 8 * whole)) == '.') {
    const uint128 before = first_bytes(whole);
    bytes = (bytes & before) | (bytes >> 8U & ~before);
    digits = count_digits(bytes);
    if (digits > most_digits) return std::nullopt;
    number.has_point = true;
  }
  number.has_digits = digits > 0 || text.data() > first;
  number.length = given - text.size() + digits + (number.has_point ? 1 : 0);
  bytes &= first_bytes(digits) & make_uint128(0x0f * each_byte, 0x0f * each_byte);
  if (bytes == 0) {
    number.window = {std::uint64_t{0x80} << 56U, 1};
    return number;
  }
  const auto zeros =
      static_cast<std::size_t>(upper(bytes) != 0 ? std::countl_zero(upper(bytes)) : 64 + std::countl_zero(lower(bytes)));
  const std::size_t pairs = (16 - zeros / 8 + 1) / 2;
  const std::uint64_t counted = ~std::uint64_t{0} << (64 - 8 * pairs);
  std::uint64_t magnitude = __builtin_bswap64(std::uint64_t{pairs_of(upper(bytes))} << 32U | pairs_of(lower(bytes)));
  magnitude += each_byte & counted;
  std::uint64_t sign = 0x81, length = whole;
  if (is_negative) {
    sign = 0x7f;
    length = ~length & 0xff;
    magnitude = ~magnitude & (counted >> 8U | counted);
  }
  number.window = {sign << 56U | length << 48U | magnitude >> 16U,
                   static_cast<std::uint32_t>(magnitude << 16U) | static_cast<std::uint32_t>(pairs + (is_negative ? 3 : 2))};
  return number;
}

std::optional<records::KeyWindow> number_window(Text text) noexcept {
  const auto number = read_number_window(text);
  return number ? std::optional(number->window) : std::nullopt;
}

}  // namespace ecosort::lines
