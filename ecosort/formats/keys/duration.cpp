// Spans of time in seconds: with units, as a clock has them, and in ISO 8601.
#include <span>

#include "formats/keys/exact_sum.h"
#include "formats/lines/text.h"

namespace ecosort::keys {
namespace {

struct TimeUnit {
  Text name;
  unsigned seconds;
  int exponent = 0;  // of ten, which the seconds are multiplied by
};

// The longest first; "ms" comes before "m", with which it begins.
constexpr TimeUnit short_units[] = {{"w", 604'800}, {"d", 86'400}, {"h", 3600},          {"ms", 1, -3},        {"m", 60},
                                    {"s", 1},       {"us", 1, -6}, {"\xc2\xb5s", 1, -6}, {"\xce\xbcs", 1, -6}, {"ns", 1, -9}};
constexpr TimeUnit iso_date_units[] = {{"W", 604'800}, {"D", 86'400}}, iso_time_units[] = {{"H", 3600}, {"M", 60}, {"S", 1}};

// Units come in this order.
bool is_shorter(const TimeUnit& a, const TimeUnit& b) noexcept {
  return a.exponent != b.exponent ? a.exponent < b.exponent : a.seconds < b.seconds;
}

const TimeUnit* take_unit(Text& text, std::span<const TimeUnit> units) noexcept {
  for (const TimeUnit& unit : units) {
    if (text.size() < unit.name.size() || !is_word(text.substr(0, unit.name.size()), unit.name)) continue;
    text.remove_prefix(unit.name.size());
    return &unit;
  }
  return nullptr;
}

// Adds numbers with units, each unit once and the longest first, up to the end or a T; false for another text.
bool add_units(Text& text, std::span<const TimeUnit> units, Text points, ExactSum& sum) {
  const TimeUnit* before = nullptr;
  while (!text.empty() && text.front() != 'T') {
    auto number = take_decimal(text, points);
    if (!number) return false;
    text = lines::without_leading_blanks(text);
    const TimeUnit* const unit = take_unit(text, units);
    if (unit == nullptr || (before != nullptr && !is_shorter(*unit, *before))) return false;
    number->multiply(unit->seconds);
    number->multiply_by_power_of_ten(unit->exponent);
    sum.add(*number);
    before = unit;
    text = lines::without_leading_blanks(text);
  }
  return before != nullptr;
}

// P1DT2H30M, of which either part may lack. The blanks that add_units() takes are refused here.
bool add_iso(Text text, ExactSum& sum) {
  if (text.find_first_of(" \t\n") != Text::npos || text.empty()) return false;
  if (text.front() != 'T' && !add_units(text, iso_date_units, ".,", sum)) return false;
  if (text.empty()) return true;
  text.remove_prefix(1);
  return add_units(text, iso_time_units, ".,", sum) && text.empty();
}

// Takes ":59" off the text.
bool take_sixtieths(Text& text, Text& digits) noexcept {
  if (text.size() < 3 || text[0] != ':' || text[1] < '0' || text[1] > '5' || !lines::is_digit(text[2])) return false;
  digits = text.substr(1, 2);
  text.remove_prefix(3);
  return true;
}

// 1:30:00.25: hours, minutes and seconds.
bool add_clock(Text text, ExactSum& sum) {
  auto hours = take_decimal(text, {});
  Text minutes, whole_seconds;
  if (!hours || !take_sixtieths(text, minutes)) return false;
  Text seconds = text.empty() ? text : text.substr(1);
  if (!take_sixtieths(text, whole_seconds) || (!text.empty() && text.front() != '.')) return false;
  const auto exact = take_decimal(seconds);
  if (!seconds.empty()) return false;
  ExactSum exact_minutes(minutes, {});
  exact_minutes.multiply(60);
  hours->multiply(3600);
  sum.add(*hours);
  sum.add(exact_minutes);
  sum.add(*exact);
  return true;
}

}  // namespace

bool code_duration(Text value, Code& code) {
  Text text = lines::without_blanks(value);
  const bool is_negative = take_sign(text);
  ExactSum sum;
  const bool is_clock = text.find(':') != Text::npos;
  if (text.starts_with('P') ? !add_iso(text.substr(1), sum)
      : is_clock            ? !add_clock(text, sum)
                            : !add_units(text, short_units, ".", sum) || !text.empty())
    return false;
  sum.encode(is_negative, code);
  return true;
}

}  // namespace ecosort::keys
