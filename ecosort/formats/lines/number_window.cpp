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

template <class Word>
std::uint64_t load(const char* at) noexcept {
  Word word{};
  std::memcpy(&word, at, sizeof word);
  return word;
}

// What the last bytes of a text have that its first ones, of which they repeat `overlap`, have not.
uint128 behind(std::uint64_t last, std::size_t overlap) noexcept { return uint128{last} >> 8 * overlap; }

// 16 bytes, the first one lowest; zeros behind the text. Two loads, which overlap in shorter texts: a copy of as many bytes as
// there are would have to reach memory before it can be loaded. Nothing outside of the text is read.
uint128 load16(Text text) noexcept {
  const char* const at = text.data();
  const std::size_t size = text.size();
  if (size >= 16) return make_uint128(load<std::uint64_t>(at + 8), load<std::uint64_t>(at));
  if (size >= 8) return load<std::uint64_t>(at) | behind(load<std::uint64_t>(at + size - 8), 16 - size) << 64U;
  if (size >= 4) return load<std::uint32_t>(at) | behind(load<std::uint32_t>(at + size - 4), 8 - size) << 32U;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < size; ++i) bytes |= std::uint64_t{static_cast<unsigned char>(at[i])} << 8 * i;
  return bytes;
}

std::uint64_t upper(uint128 x) noexcept { return static_cast<std::uint64_t>(x >> 64U); }
std::uint64_t lower(uint128 x) noexcept { return static_cast<std::uint64_t>(x); }

// The first `count` bytes, fewer than 16.
uint128 first_bytes(std::size_t count) noexcept { return (uint128{1} << 8 * count) - 1; }
std::uint8_t byte_of(uint128 bytes, std::size_t i) noexcept { return static_cast<std::uint8_t>(lower(bytes >> 8 * i)); }

// Bit i: byte i is no digit.
std::uint32_t non_digits(std::uint64_t bytes) noexcept {
  const std::uint64_t seven_bits = bytes & ~upper_bits;
  const std::uint64_t above = seven_bits + (0x7f - '9') * each_byte, not_below = seven_bits + (0x80 - '0') * each_byte;
  const std::uint64_t found = (above | ~not_below | bytes) & upper_bits;
  return static_cast<std::uint32_t>((found >> 7U) * 0x0102040810204080U >> 56U);
}

// The same of 16 bytes, with a bit more behind them.
std::uint32_t non_digits(uint128 bytes) noexcept { return non_digits(lower(bytes)) | non_digits(upper(bytes)) << 8U | 1U << 16U; }

// Four bytes 10 * tens + ones of eight digits.
std::uint32_t pairs_of(std::uint64_t digits) noexcept {
  constexpr std::uint64_t even = 0x00ff00ff00ff00ff;
  std::uint64_t pairs = (digits & even) * 10 + (digits >> 8U & even);
  pairs = (pairs | pairs >> 8U) & 0x0000ffff0000ffff;
  return static_cast<std::uint32_t>(pairs | pairs >> 16U);
}

}  // namespace

// In the words of numbers.cpp: a byte for the sign, one for the digits before the point, and one for each pair of digits, 1 to
// 100. All bits are turned in a negative number. Signs and lengths follow no pattern, so that nothing here depends on them by a
// branch.
std::optional<NumberWindow> read_number_window(Text text) noexcept {
  const std::size_t given = text.size();
  text = without_leading_blanks(text);
  const std::uint64_t turn = !text.empty() && text[0] == '-' ? ~std::uint64_t{0} : 0;
  text = {text.data() + (turn & 1U), text.size() - (turn & 1U)};
  const char* const first = text.data();
  while (!text.empty() && text[0] == '0') text.remove_prefix(1);
  uint128 bytes = load16(text);
  std::uint32_t ends = non_digits(bytes);
  const auto whole = static_cast<std::size_t>(std::countr_zero(ends));
  if (whole > most_digits) return std::nullopt;
  NumberWindow number;
  number.has_point = byte_of(bytes, whole) == '.';
  if (number.has_point) ends &= ends - 1;
  const auto end = static_cast<std::size_t>(std::countr_zero(ends)), digits = end - (number.has_point ? 1 : 0);
  if (digits > most_digits || byte_of(bytes, end) >= 0x80) return std::nullopt;
  if (number.has_point) {
    const uint128 before = first_bytes(whole);
    bytes = (bytes & before) | (bytes >> 8U & ~before);
  }
  number.has_digits = digits > 0 || text.data() > first;
  number.length = given - text.size() + end;
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
  magnitude = ((magnitude + (each_byte & counted)) ^ turn) & (counted >> 8U | counted);
  const std::uint64_t sign = 0x81 ^ (turn & 0xfe), length = whole ^ (turn & 0xff);
  number.window = {sign << 56U | length << 48U | magnitude >> 16U,
                   static_cast<std::uint32_t>(magnitude << 16U) | static_cast<std::uint32_t>(pairs + 2 + (turn & 1U))};
  return number;
}

std::optional<records::KeyWindow> number_window(Text text) noexcept {
  const auto number = read_number_window(text);
  return number ? std::optional(number->window) : std::nullopt;
}

}  // namespace ecosort::lines
