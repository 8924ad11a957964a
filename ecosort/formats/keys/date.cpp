#include "formats/keys/date.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "base/errors.h"
#include "formats/lines/text.h"

namespace ecosort::keys {
namespace {

using lines::is_blank;
using lines::is_digit;

constexpr std::int64_t seconds_per_day = 86'400;

constexpr bool is_leap_year(int year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

constexpr int days_in(int year, int month) {
  constexpr std::array<int, 12> days{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && is_leap_year(year) ? 29 : days[static_cast<std::size_t>(month - 1)];
}

// Days from 1970-01-01 on, in the Gregorian calendar: leap years up to the one before, and the days of the months.
constexpr std::int64_t days_since_1970(int year, int day_of_year) {
  const auto leap_days = [](std::int64_t before) { return before / 4 - before / 100 + before / 400; };
  const std::int64_t years = year + 399;  // so that the years are positive: 400 years are 146,097 days
  return 365 * (std::int64_t{year} - 1970) + leap_days(years) - leap_days(1969 + 400) + day_of_year - 1;
}
static_assert(days_since_1970(1970, 1) == 0 && days_since_1970(2000, 61) == 11'017 && days_since_1970(0, 1) == -719'528);

// Collects what was read so far.
struct Parts {
  int year = 1970, month = 1, day = 1, day_of_year = 0;  // 0: month and day say it
  int hour = 0, minute = 0, second = 0, offset_minutes = 0;
  int half = -1;     // of the day: 0 AM, 1 PM
  int weekday = -1;  // 0: Monday
  bool has_half_hour_clock = false;
  std::optional<std::int64_t> epoch;
  bool is_before_epoch = false;  // also -0
  Text fraction;
};

int day_of_year(const Parts& parts) {
  int day = parts.day;
  for (int month = 1; month < parts.month; ++month) day += days_in(parts.year, month);
  return day;
}

bool exists(const Parts& parts) {
  const bool is_midnight = parts.hour == 24 && parts.minute == 0 && parts.second == 0 && parts.fraction.empty();
  if (parts.hour > 23 && !is_midnight) return false;
  if (parts.minute > 59 || parts.second > 60) return false;
  if (parts.day_of_year > 0) return parts.day_of_year <= 365 + (is_leap_year(parts.year) ? 1 : 0);
  return parts.month >= 1 && parts.month <= 12 && parts.day >= 1 && parts.day <= days_in(parts.year, parts.month);
}

// 1970-01-01 was a Thursday.
constexpr int weekday_of(std::int64_t days_since_1970) { return static_cast<int>(((days_since_1970 + 3) % 7 + 7) % 7); }

Time time_of_epoch(std::int64_t seconds, Text fraction, bool is_negative) {
  const bool counts_back = is_negative && !fraction.empty();
  return {seconds - (counts_back ? 1 : 0), fraction, counts_back};
}

std::optional<Time> time_of(Parts parts) {
  while (!parts.fraction.empty() && parts.fraction.back() == '0') parts.fraction.remove_suffix(1);
  if (parts.epoch) return time_of_epoch(*parts.epoch, parts.fraction, parts.is_before_epoch);
  if (parts.has_half_hour_clock) {
    if (parts.hour < 1 || parts.hour > 12) return std::nullopt;
    parts.hour = parts.hour % 12 + (parts.half == 1 ? 12 : 0);
  }
  if (!exists(parts)) return std::nullopt;
  const std::int64_t days = days_since_1970(parts.year, parts.day_of_year > 0 ? parts.day_of_year : day_of_year(parts));
  if (parts.weekday >= 0 && parts.weekday != weekday_of(days)) return std::nullopt;
  return Time{days * seconds_per_day + (parts.hour * 60 + parts.minute - parts.offset_minutes) * std::int64_t{60} + parts.second,
              parts.fraction};
}

// Takes exactly `digits` digits off the text.
bool take_number(Text& text, std::size_t digits, int& value) noexcept {
  if (text.size() < digits) return false;
  int read = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    if (!is_digit(text[i])) return false;
    read = 10 * read + (text[i] - '0');
  }
  value = read;
  text.remove_prefix(digits);
  return true;
}

// At least one digit, at most `digits`.
bool take_some(Text& text, std::size_t digits, int& value) noexcept {
  std::size_t count = 0;
  while (count < digits && count < text.size() && is_digit(text[count])) ++count;
  return count > 0 && take_number(text, count, value);
}

bool take(Text& text, char c) noexcept {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

bool take_fraction(Text& text, Text& fraction) noexcept {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[count])) ++count;
  fraction = text.substr(0, count);
  text.remove_prefix(count);
  return count > 0;
}

constexpr bool is_offset_sign(char c) noexcept {
  return c == 'Z' || c == 'z' || c == '+' || c == '-' || c == 'U' || c == 'G' || c == ' ';
}

bool begins_with_folded(Text text, Text word) noexcept {
  return text.size() >= word.size() &&
         std::ranges::equal(text.substr(0, word.size()), word, {}, lines::to_upper, lines::to_upper);
}

// Names that mean UTC, the longer ones first. Those of other zones, such as EST, mean several.
bool take_zone_name(Text& text) noexcept {
  for (const Text name : {"UTC", "GMT", "UT", "Z"}) {
    if (!begins_with_folded(text, name)) continue;
    text.remove_prefix(name.size());
    return true;
  }
  return false;
}

// Behind a time of ISO 8601 they are in capital letters.
bool take_iso_zone_name(Text& text) noexcept {
  Text rest = text;
  (void)take(rest, ' ');
  if (!rest.starts_with("UTC") && !rest.starts_with("GMT")) return false;
  text = rest.substr(3);
  return true;
}

// Z, +hh, +hhmm or +hh:mm.
bool take_offset(Text& text, int& minutes) noexcept {
  if (take(text, 'Z') || take(text, 'z')) return true;
  const bool is_west = take(text, '-');
  int hours = 0, rest = 0;
  if ((!is_west && !take(text, '+')) || !take_number(text, 2, hours)) return false;
  if (take(text, ':') ? !take_number(text, 2, rest) : !text.empty() && is_digit(text.front()) && !take_number(text, 2, rest))
    return false;
  if (hours > 23 || rest > 59) return false;
  minutes = (is_west ? -1 : 1) * (60 * hours + rest);
  return true;
}

// All of a text that ends with its year or its month, too.
bool take_iso_date(Text& text, Parts& parts) noexcept {
  if (!take_number(text, 4, parts.year)) return false;
  if (text.empty()) return true;
  const bool has_hyphens = take(text, '-');
  if (!take_number(text, 2, parts.month)) return false;
  if (has_hyphens && text.empty()) return true;
  return (!has_hyphens || take(text, '-')) && take_number(text, 2, parts.day);
}

bool take_iso_time(Text& text, Parts& parts) noexcept {
  if (!take_number(text, 2, parts.hour)) return false;
  if (text.empty() || is_offset_sign(text.front())) return true;
  const bool has_colons = take(text, ':');
  if (!take_number(text, 2, parts.minute)) return false;
  const bool has_seconds = has_colons ? take(text, ':') : !text.empty() && is_digit(text.front());
  if (!has_seconds) return true;
  if (!take_number(text, 2, parts.second)) return false;
  return !(take(text, '.') || take(text, ',')) || take_fraction(text, parts.fraction);
}

constexpr std::array<Text, 12> month_names{"January", "February", "March",     "April",   "May",      "June",
                                           "July",    "August",   "September", "October", "November", "December"};

constexpr std::array<Text, 7> weekday_names{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};

// The whole name or its first three letters; `number` is its place among the names.
bool take_name(Text& text, std::span<const Text> names, int& number) noexcept {
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Text name = names[i], letters = name.substr(0, 3);
    if (!begins_with_folded(text, letters)) continue;
    text.remove_prefix(begins_with_folded(text, name) ? name.size() : letters.size());
    number = static_cast<int>(i);
    return true;
  }
  return false;
}

bool take_month(Text& text, int& month) noexcept {
  if (!take_name(text, month_names, month)) return false;
  ++month;
  return true;
}

bool take_half(Text& text, int& half) noexcept {
  for (const Text word : {"AM", "PM"}) {
    if (!begins_with_folded(text, word)) continue;
    half = word == "PM" ? 1 : 0;
    text.remove_prefix(2);
    return true;
  }
  return false;
}

bool take_epoch(Text& text, Parts& parts) noexcept {
  constexpr std::size_t most_digits = 11;
  const bool is_negative = take(text, '-');
  Text digits;
  if (!take_fraction(text, digits) || digits.size() > most_digits) return false;
  std::int64_t seconds = 0;
  for (const char c : digits) seconds = 10 * seconds + (c - '0');
  parts.epoch = is_negative ? -seconds : seconds;
  parts.is_before_epoch = is_negative;
  return true;
}

bool take_short_year(Text& text, Parts& parts) noexcept {
  if (!take_number(text, 2, parts.year)) return false;
  parts.year += parts.year < 69 ? 2000 : 1900;
  return true;
}

bool take_by_letter(char letter, Text& text, Parts& parts) noexcept {
  switch (letter) {
    case 'Y':
      return take_number(text, 4, parts.year);
    case 'y':
      return take_short_year(text, parts);
    case 'm':
      return take_some(text, 2, parts.month);
    case 'd':
    case 'e':
      text = lines::without_leading_blanks(text);
      return take_some(text, 2, parts.day);
    case 'b':
    case 'B':
      return take_month(text, parts.month);
    case 'a':
    case 'A':
      return take_name(text, weekday_names, parts.weekday);
    case 'Z':
      return take_zone_name(text);
    case 'j':
      return take_some(text, 3, parts.day_of_year) && parts.day_of_year > 0;
    case 'H':
      return take_some(text, 2, parts.hour);
    case 'I':
      parts.has_half_hour_clock = true;
      return take_some(text, 2, parts.hour);
    case 'p':
      return take_half(text, parts.half);
    case 'M':
      return take_some(text, 2, parts.minute);
    case 'S':
      return take_some(text, 2, parts.second);
    case 'f':
      return take_fraction(text, parts.fraction);
    case 'z':
      return take_offset(text, parts.offset_minutes);
    case 's':
      return take_epoch(text, parts);
    default:
      return take(text, '%');
  }
}

struct Shorthand {
  char letter;
  Text meaning;
};
constexpr std::array<Shorthand, 4> shorthands{{{'F', "%Y-%m-%d"}, {'T', "%H:%M:%S"}, {'D', "%m/%d/%y"}, {'R', "%H:%M"}}};
constexpr Text letters = "YymdebBjaAHIpMSfzZs%";

constexpr std::size_t seconds_bytes = 5;
constexpr std::int64_t seconds_bias = std::int64_t{1} << 39U;

// Returns a digit of the fraction of a second behind `seconds`.
int fraction_digit(const Time& time, std::size_t at) noexcept {
  const int digit = time.fraction[at] - '0';
  if (!time.counts_back) return digit;
  return (at + 1 < time.fraction.size() ? 9 : 10) - digit;
}

// Byte `at` of a time: its seconds, then two digits in each byte. False behind the end.
bool time_byte(const Time& time, std::size_t at, unsigned char& byte) noexcept {
  if (at < seconds_bytes) {
    byte = static_cast<unsigned char>(static_cast<std::uint64_t>(time.seconds + seconds_bias) >> (8 * (seconds_bytes - 1 - at)));
    return true;
  }
  const std::size_t first = 2 * (at - seconds_bytes);
  if (first >= time.fraction.size()) return false;
  const int ones = first + 1 < time.fraction.size() ? fraction_digit(time, first + 1) : 0;
  byte = static_cast<unsigned char>(10 * fraction_digit(time, first) + ones);
  return true;
}

}  // namespace

std::optional<Time> read_iso_time(Text text) noexcept {
  Parts parts;
  if (!take_iso_date(text, parts)) return std::nullopt;
  if (!text.empty()) {
    if (!take(text, 'T') && !take(text, 't') && !take(text, ' ')) return std::nullopt;
    if (!take_iso_time(text, parts)) return std::nullopt;
    if (!text.empty() && !take_iso_zone_name(text) && !take_offset(text, parts.offset_minutes)) return std::nullopt;
    if (!text.empty()) return std::nullopt;
  }
  return time_of(parts);
}

namespace {

// A weekday alone would leave all values equal.
void check_weekday(Text format) {
  const auto has_one_of = [format](Text letters_of_fields) {
    for (std::size_t i = 0; i + 1 < format.size(); i += format[i] == '%' ? 2 : 1)
      if (format[i] == '%' && letters_of_fields.find(format[i + 1]) != Text::npos) return true;
    return false;
  };
  if (has_one_of("aA") && !has_one_of("dejs"))
    throw UsageError(
        fmt::format("date format '{}' has a weekday and no day, which orders nothing; the order of weekdays is that of a "
                    "list, such as NAME:list:Mon|Tue|Wed|Thu|Fri|Sat|Sun",
                    format));
}

}  // namespace

TimeFormat::TimeFormat(std::string format) {
  bool has_field = false;
  for (std::size_t i = 0; i < format.size(); ++i) {
    format_ += format[i];
    if (format[i] != '%') continue;
    const char letter = i + 1 < format.size() ? format[++i] : '\0';
    has_field |= letter != '%';
    const auto* const shorthand = std::ranges::find(shorthands, letter, &Shorthand::letter);
    if (shorthand != shorthands.end()) {
      format_.pop_back();
      format_ += shorthand->meaning;
    } else if (letter != '\0' && letters.find(letter) != Text::npos) {
      format_ += letter;
    } else {
      throw UsageError(fmt::format("date format '{}': % is followed by one of the letters {}FTDR or by %", format,
                                   letters.substr(0, letters.size() - 1)));
    }
  }
  if (!has_field)
    throw UsageError(
        fmt::format("date format '{}' has no field, so that no date matches it; write %Y-%m-%d for 2024-05-01 and "
                    "%d.%m.%Y for 01.05.2024 (see ecosort csv --help)",
                    format));
  check_weekday(format_);
}

std::optional<Time> TimeFormat::read(Text text) const noexcept {
  Parts parts;
  for (std::size_t i = 0; i < format_.size(); ++i) {
    if (is_blank(format_[i]))
      text = lines::without_leading_blanks(text);
    else if (format_[i] == '%' ? !take_by_letter(format_[++i], text, parts) : !take(text, format_[i]))
      return std::nullopt;
  }
  return text.empty() ? time_of(parts) : std::nullopt;
}

std::size_t encode(const Time& time, std::size_t skip, unsigned char* to, std::size_t room) noexcept {
  std::size_t count = 0;
  while (count < room && time_byte(time, skip + count, to[count])) ++count;
  return count;
}

int compare(const Time& a, const Time& b) noexcept {
  if (a.seconds != b.seconds) return a.seconds < b.seconds ? -1 : 1;
  const std::size_t x = a.fraction.size(), y = b.fraction.size();
  for (std::size_t i = 0; i < std::min(x, y); ++i)
    if (const int difference = fraction_digit(a, i) - fraction_digit(b, i); difference != 0) return difference;
  return (x > y ? 1 : 0) - (x < y ? 1 : 0);
}

}  // namespace ecosort::keys
