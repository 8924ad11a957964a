// The logarithm to the base 2 for predictions. That of libm would be the only reason to load this library, at every start, which
// the sort of a small file notices.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <numbers>

namespace ecosort::planner {

// Exact for powers of two, within 2^-50 for others. Of 0 it is minus infinity; smaller than 2^-1022 no number may be otherwise.
[[nodiscard]] constexpr double logarithm_of(double value) {
  constexpr unsigned fraction_bits = 52;
  constexpr std::uint64_t fraction = (std::uint64_t{1} << fraction_bits) - 1;
  if (!(value > 0)) return -std::numeric_limits<double>::infinity();
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto part = std::bit_cast<double>((bits & fraction) | std::bit_cast<std::uint64_t>(1.0));  // from 1 up to 2
  const int exponent = static_cast<int>(bits >> fraction_bits) - std::numeric_limits<double>::max_exponent + 1;
  const double x = (part - 1) / (part + 1);  // the logarithm of the part is 2 artanh(x) / ln 2, with x below 1/3
  double series = 0;
  for (int odd = 33; odd > 0; odd -= 2) series = series * x * x + 1.0 / odd;
  return exponent + 2 * x * series * std::numbers::log2e;
}

static_assert(logarithm_of(1) == 0 && logarithm_of(0.5) == -1 && logarithm_of(1 << 20) == 20);

}  // namespace ecosort::planner
