#include "formats/keys/number.h"

#include "formats/lines/text.h"

namespace ecosort::keys {
namespace {

using lines::is_digit;
using lines::without_blanks;

// Takes the digits that the text begins with off it.
Text take_digits(Text& text) noexcept {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[count])) ++count;
  const Text digits = text.substr(0, count);
  text.remove_prefix(count);
  return digits;
}

Text without_zeros_in_front(Text digits) noexcept {
  const std::size_t first = digits.find_first_not_of('0');
  return first == Text::npos ? Text() : digits.substr(first);
}

}  // namespace

bool take_sign(Text& text) noexcept {
  if (text.empty() || (text.front() != '-' && text.front() != '+')) return false;
  const bool is_minus = text.front() == '-';
  text.remove_prefix(1);
  return is_minus;
}

std::optional<std::int64_t> read_exponent(Text text) noexcept {
  const bool is_negative = take_sign(text);
  const Text all = take_digits(text), digits = without_zeros_in_front(all);
  constexpr std::size_t most_digits = 5;
  if (all.empty() || !text.empty() || digits.size() > most_digits) return std::nullopt;
  std::int64_t exponent = 0;
  for (const char c : digits) exponent = 10 * exponent + (c - '0');
  return is_negative ? -exponent : exponent;
}

Number number_of(bool is_negative, Text before, Text behind, std::int64_t exponent) noexcept {
  before = without_zeros_in_front(before);
  auto point = static_cast<std::int64_t>(before.size()) + exponent;  // digits in front of it
  if (before.empty()) {
    const Text significant = without_zeros_in_front(behind);
    point -= static_cast<std::int64_t>(behind.size() - significant.size());
    behind = significant;
  }
  Number number;
  number.before = before.data();
  number.before_count = before.size();
  number.behind = behind.data();
  std::size_t digits = before.size() + behind.size();
  while (digits > 0 && number.digit(digits - 1) == '0') --digits;
  if (digits == 0) return {};
  number.negative = is_negative;
  if (point > 0)
    number.whole = static_cast<std::size_t>(point);
  else
    number.zeros = static_cast<std::size_t>(-point);
  number.significant = number.zeros + digits;
  return number;
}

std::optional<Number> read_number(Text text) noexcept {
  text = without_blanks(text);
  const bool is_negative = take_sign(text);
  const Text before = take_digits(text);
  Text behind;
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    behind = take_digits(text);
  }
  if (before.empty() && behind.empty()) return std::nullopt;
  if (text.empty()) return number_of(is_negative, before, behind, 0);
  if (text.front() != 'e' && text.front() != 'E') return std::nullopt;
  const auto exponent = read_exponent(text.substr(1));
  return exponent ? std::optional(number_of(is_negative, before, behind, *exponent)) : std::nullopt;
}

std::optional<Number> read_integer(Text text) noexcept {
  text = without_blanks(text);
  const bool is_negative = take_sign(text);
  const Text digits = take_digits(text);
  if (digits.empty() || !text.empty()) return std::nullopt;
  return number_of(is_negative, digits, {}, 0);
}

}  // namespace ecosort::keys
