// Dates and times in tables.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/text.h"

namespace ecosort::keys {

// A point in time. Fractions count with all their digits.
struct Time {
  std::int64_t seconds = 0;  // since the year 1970, in UTC; the last whole one that is not later
  Text fraction;             // digits behind the point, without zeros at the end
  bool counts_back = false;  // the fraction is what is missing to the next second: -1.25 is 25 hundredths before second -1
};

// ISO 8601 without weeks and days of the year: 2024-05-01 or 20240501, or 2024-05 or 2024 alone; a T or a blank, hours, minutes,
// 09, 09:30 or 0930, seconds, a fraction behind a point or a comma; Z or an offset, +02:00, +0200 or +02, or UTC or GMT, which a
// blank may precede. Without an offset the time is taken as one of UTC; what is left out at the end is that of the beginning:
// 2024 is midnight of its first day. Nothing for all other texts, and for days and times that do not exist.
[[nodiscard]] std::optional<Time> read_iso_time(Text text) noexcept;

// A format like that of strptime: %Y %y %m %d %e %b %B %H %I %p %M %S %f %z %Z %s %j %a %A, %F %T %D %R for %Y-%m-%d %H:%M:%S
// %m/%d/%y %H:%M, and %%. A blank stands for any number of them; other characters stand for themselves. Names of months and
// weekdays are English, whole or their first three letters; a weekday must be that of the date. %Z is UTC, GMT, UT or Z: other
// names of zones mean several.
// `%f`: digits of a fraction; `%y`: 69 to 99 are of the last century. What a format lacks is that of 1970-01-01 00:00:00 UTC.
class TimeFormat {
 public:
  // UsageError for a letter that is none of these, for a format without a field, and for a weekday without a date.
  explicit TimeFormat(std::string format);

  [[nodiscard]] std::optional<Time> read(Text text) const noexcept;
  [[nodiscard]] const std::string& text() const noexcept { return format_; }

 private:
  std::string format_;
};

// Bytes that order times; returns how many, at most `room`, from byte `skip` on.
[[nodiscard]] std::size_t encode(const Time& time, std::size_t skip, unsigned char* to, std::size_t room) noexcept;
[[nodiscard]] int compare(const Time& a, const Time& b) noexcept;

}  // namespace ecosort::keys
