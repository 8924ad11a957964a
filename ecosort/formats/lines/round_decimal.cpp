#include "formats/lines/round_decimal.h"

#include <array>
#include <bit>

namespace ecosort::lines {
namespace {

// value * 2^(exponent - 127); the upper bit of the value is set. The value is at most 2 less than it should be.
struct PowerOfTen {
  uint128 value = 0;
  int exponent = 0;
};

// 192 bits, the lowest word first, of which 128 remain: hundreds of steps that cut bits off do not add up to one of these.
struct Wide {
  std::uint64_t words[3] = {0, 0, std::uint64_t{1} << 63U};
  int exponent = 0;

  constexpr void multiply_by_ten() {
    std::uint64_t product[4] = {};
    std::uint64_t carry = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const uint128 word = uint128{words[i]} * 10 + carry;
      product[i] = low_half(word);
      carry = high_half(word);
    }
    product[3] = carry;
    const int shift = 64 - std::countl_zero(carry);
    for (std::size_t i = 0; i < 3; ++i) words[i] = product[i] >> shift | product[i + 1] << (64 - shift);
    exponent += shift;
  }

  constexpr void divide_by_ten() {
    const int shift = words[2] / 10 >= (std::uint64_t{1} << 60U) ? 3 : 4;
    const std::uint64_t shifted[4] = {words[0] << shift, words[1] << shift | words[0] >> (64 - shift),
                                      words[2] << shift | words[1] >> (64 - shift), words[2] >> (64 - shift)};
    std::uint64_t rest = 0;
    for (std::size_t i = 4; i-- > 0;) {
      const uint128 part = make_uint128(rest, shifted[i]);
      if (i < 3) words[i] = static_cast<std::uint64_t>(part / 10);
      rest = static_cast<std::uint64_t>(part % 10);
    }
    exponent -= shift;
  }

  [[nodiscard]] constexpr PowerOfTen rounded_down() const { return {make_uint128(words[2], words[1]), exponent}; }
};

constexpr auto powers_of_ten = [] {
  std::array<PowerOfTen, 2 * largest_power_of_ten + 1> powers;
  Wide up, down;
  powers[largest_power_of_ten] = up.rounded_down();
  for (std::size_t i = 1; i <= largest_power_of_ten; ++i) {
    up.multiply_by_ten();
    down.divide_by_ten();
    powers[largest_power_of_ten + i] = up.rounded_down();
    powers[largest_power_of_ten - i] = down.rounded_down();
  }
  return powers;
}();

constexpr int dropped = 128 - LongDouble::precision;
constexpr std::uint64_t largest_error = 8;  // of the upper 128 bits of a product; it is too small, never too large

}  // namespace

std::optional<uint128> round_decimal(std::uint64_t digits, int exponent) noexcept {
  if (digits == 0) return 0;
  if (exponent < -largest_power_of_ten || exponent > largest_power_of_ten) return std::nullopt;
  const PowerOfTen& power = powers_of_ten.begin()[largest_power_of_ten + exponent];
  const int zeros = std::countl_zero(digits);
  digits <<= zeros;
  const uint128 lower = uint128{digits} * low_half(power.value);
  uint128 product = uint128{digits} * high_half(power.value) + high_half(lower);
  int binary = 64 - zeros + power.exponent;
  if (high_half(product) >> 63U == 0) {
    product <<= 1U;
    --binary;
  }
  constexpr uint128 half = uint128{1} << (dropped - 1);
  const uint128 rest = product & (2 * half - 1);
  if (half - rest <= largest_error) return std::nullopt;
  uint128 mantissa = (product >> dropped) + (rest > half ? 1 : 0);
  if (mantissa >> LongDouble::precision != 0) {
    mantissa >>= 1U;
    ++binary;
  }
  constexpr uint128 stored = (uint128{1} << LongDouble::exponent_at) - 1;
  return uint128{static_cast<std::uint64_t>(binary + LongDouble::exponent_bias)} << LongDouble::exponent_at | (mantissa & stored);
}

}  // namespace ecosort::lines
