// Numbers as people write them: 1.234,50 EUR with a sign for the currency, 12.5 %, (1,000.00).
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/errors.h"
#include "formats/keys/exact_sum.h"
#include "formats/lines/text.h"

namespace ecosort::keys {
namespace {

constexpr Text blank_signs[] = {" ", "\t", "\xc2\xa0", "\xe2\x80\xaf", "\xe2\x80\x89"};  // no-break, narrow, thin
constexpr Text minus_signs[] = {"-", "\xe2\x88\x92"}, other_group_signs[] = {"'", "\xe2\x80\x99", "_"};
constexpr Text currency_signs[] = {
    "$",           "\xc2\xa2", "\xc2\xa3", "\xc2\xa4", "\xc2\xa5", "\xe0\xb8\xbf", "\xef\xbc\x84", "\xef\xbf\xa1", "\xef\xbf\xa5",
    "\xef\xbf\xa6"};
constexpr Text percent_signs[] = {"%", "\xe2\x80\xb0"};  // hundredths, thousandths

enum class Side { front, back };

template <std::size_t count>
std::size_t sign_at(Text text, const Text (&signs)[count], Side side) noexcept {
  for (const Text sign : signs)
    if (side == Side::front ? text.starts_with(sign) : text.ends_with(sign)) return sign.size();
  return 0;
}

// U+20A0 to U+20CF are signs of currencies, too.
std::size_t currency_sign_at(Text text, Side side) noexcept {
  if (const std::size_t size = sign_at(text, currency_signs, side); size > 0) return size;
  constexpr std::size_t size = 3;
  if (text.size() < size) return 0;
  const Text sign = side == Side::front ? text.substr(0, size) : text.substr(text.size() - size);
  const bool is_one = sign.starts_with("\xe2\x82") ? static_cast<unsigned char>(sign[2]) >= 0xa0
                                                   : sign.starts_with("\xe2\x83") && static_cast<unsigned char>(sign[2]) <= 0x8f;
  return is_one ? size : 0;
}

// Takes apart what is around the digits.
class Surroundings {
 public:
  // Takes signs off both ends; false where one is there twice.
  [[nodiscard]] bool take(Text& text) {
    take_outside(text);
    if (signs_ == 0 && text.starts_with('(') && text.ends_with(')') && text.size() > 1) {  // $(5), ($5)
      text = text.substr(1, text.size() - 2);
      minuses_ = signs_ = 1;
      take_outside(text);
    }
    return signs_ <= 1 && currencies_ <= 1 && percents_ <= 1;
  }
  [[nodiscard]] bool is_negative() const noexcept { return minuses_ > 0; }
  // Returns the power of ten that the number is multiplied by.
  [[nodiscard]] int exponent() const noexcept { return exponent_; }

 private:
  static void cut(Text& text, std::size_t size, Side side) noexcept {
    side == Side::front ? text.remove_prefix(size) : text.remove_suffix(size);
  }
  static void take_blanks(Text& text) noexcept {
    for (const Side side : {Side::front, Side::back})
      while (const std::size_t size = sign_at(text, blank_signs, side)) cut(text, size, side);
  }
  void take_outside(Text& text) noexcept {
    take_blanks(text);
    for (const Side side : {Side::front, Side::back})
      while (take_one(text, side)) take_blanks(text);
  }
  bool take_one(Text& text, Side side) noexcept {
    if (const std::size_t size = sign_at(text, minus_signs, side); size > 0) {
      ++minuses_;
      ++signs_;
      cut(text, size, side);
    } else if (side == Side::front && text.starts_with('+')) {
      ++signs_;
      cut(text, 1, side);
    } else if (const std::size_t currency = currency_sign_at(text, side); currency > 0) {
      ++currencies_;
      cut(text, currency, side);
    } else if (const std::size_t percent = sign_at(text, percent_signs, side); percent > 0) {
      ++percents_;
      exponent_ = percent == 1 ? -2 : -3;
      cut(text, percent, side);
    } else {
      return false;
    }
    return true;
  }

  int minuses_ = 0, signs_ = 0, currencies_ = 0, percents_ = 0, exponent_ = 0;
};

bool are_digits(Text text) noexcept { return std::ranges::all_of(text, lines::is_digit); }

// Returns the separator of groups that the text begins with, or an empty text.
Text group_sign_at(Text text, char point) noexcept {
  if (text.starts_with(point == ',' ? '.' : ',')) return text.substr(0, 1);
  const std::size_t blank = sign_at(text, blank_signs, Side::front);
  return text.substr(0, blank > 0 ? blank : sign_at(text, other_group_signs, Side::front));
}

// Takes the separators out of digits in front of the point; false for groups that no one writes.
bool without_groups(Text text, char point, std::string& digits) {
  std::size_t first = 0;
  while (first < text.size() && lines::is_digit(text[first])) ++first;
  digits = text.substr(0, first);
  text.remove_prefix(first);
  if (text.empty()) return true;
  const Text separator = group_sign_at(text, point);
  constexpr std::size_t last_size = 3;
  if (separator.empty() || first == 0 || first > last_size || digits.front() == '0') return false;
  std::size_t middle_size = 0;  // of all groups between the first and the last one
  while (!text.empty()) {
    if (!text.starts_with(separator)) return false;
    text.remove_prefix(separator.size());
    const std::size_t size = std::min(text.find(separator), text.size());
    const Text group = text.substr(0, size);
    const bool is_last = size == text.size();
    if (!are_digits(group) || (is_last ? size != last_size : size != 2 && size != last_size)) return false;
    if (!is_last && middle_size != 0 && size != middle_size) return false;
    if (!is_last) middle_size = size;
    digits += group;
    text.remove_prefix(size);
  }
  return middle_size != 2 || first <= 2;
}

bool code_written_number(Text text, char point, Code& code) {
  Surroundings around;
  if (!around.take(text)) return false;
  std::int64_t exponent = 0;
  if (const std::size_t at = text.find_first_of("eE"); at != Text::npos) {
    const auto read = read_exponent(text.substr(at + 1));
    if (!read) return false;
    exponent = *read;
    text = text.substr(0, at);
  }
  const std::size_t at = text.find(point);
  const Text behind = at == Text::npos ? Text() : text.substr(at + 1);
  std::string whole;
  if (!without_groups(text.substr(0, at), point, whole) || !are_digits(behind) || (whole.empty() && behind.empty())) return false;
  add_number(number_of(around.is_negative(), whole, behind, exponent + around.exponent()), code);
  return true;
}

}  // namespace

Coder written_number_coder(const std::string& dialect) {
  if (dialect != "decimal=," && dialect != "decimal=.")
    throw UsageError(fmt::format("number:{}: give decimal=, for numbers such as 1.234,50 or decimal=. for 1,234.50", dialect));
  return [point = dialect.back()](Text value, Code& code) { return code_written_number(value, point, code); };
}

}  // namespace ecosort::keys
