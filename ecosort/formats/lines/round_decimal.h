// Decimal numbers of few digits to long double, rounded to nearest as strtold rounds, without its loops.
//
// The digits are multiplied by a power of ten of 128 bits that is known up to its last bit; what is off by less than that decides
// the rounding of nearly every number (Lemire: Number Parsing at a Gigabyte per Second, 2021). Of the others nothing is said.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "base/uint128.h"

namespace ecosort::lines {

// The format of long double: 64 bits with the leading one and 15 of the exponent (x87), or 113 without it (IEEE quadruple).
struct LongDouble {
  static constexpr int precision = std::numeric_limits<long double>::digits;
  static constexpr int exponent_at = precision == 64 ? 64 : precision - 1;  // bit; the sign is 15 bits above
  static constexpr int exponent_bias = 16383;
  static constexpr std::size_t value_bytes = precision == 64 ? 10 : 16;  // without the padding
};
static_assert(LongDouble::precision == 64 || LongDouble::precision == 113);

constexpr int largest_power_of_ten = 350;

// The bits of digits * 10^exponent as a long double; they compare like the numbers. Nothing where that is not sure, or the
// exponent is beyond +-largest_power_of_ten.
[[nodiscard]] std::optional<uint128> round_decimal(std::uint64_t digits, int exponent) noexcept;

}  // namespace ecosort::lines
