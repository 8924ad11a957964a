// Floating-point numbers as text, in the order of sort's f64.
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "formats/keys/code.h"
#include "formats/keys/number.h"
#include "formats/lines/text.h"

namespace ecosort::keys {
namespace {

// Returns the value of a number without a sign; from_chars() does not say in which direction one is out of range.
std::optional<double> read_magnitude(Text text) noexcept {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (stop != end || error == std::errc::invalid_argument) return std::nullopt;
  if (error != std::errc::result_out_of_range) return value;
  const auto number = read_number(text);  // none: its exponent has more than five digits
  const bool is_large = number ? number->whole > 0 : text.find('-') == Text::npos;
  return is_large ? std::numeric_limits<double>::infinity() : 0.0;
}

}  // namespace

// The sign bit of positive numbers is flipped, and all bits of negative ones; NaN is all ones.
bool code_floating(Text value, Code& code) {
  Text text = lines::without_blanks(value);
  const bool is_negative = take_sign(text);
  constexpr Text digits = "0123456789.";
  const bool is_usual = !text.empty() && digits.find(text.front()) != Text::npos;
  if (!is_usual && !is_word(text, "inf") && !is_word(text, "infinity") && !is_word(text, "nan")) return false;
  const auto magnitude = read_magnitude(text);
  if (!magnitude) return false;
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(*magnitude), sign = std::uint64_t{1} << 63U;
  code.add_number(std::isnan(*magnitude) ? ~std::uint64_t{0} : is_negative ? ~(bits | sign) : bits | sign, 8);
  return true;
}

}  // namespace ecosort::keys
