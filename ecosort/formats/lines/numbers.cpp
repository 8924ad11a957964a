#include "formats/lines/numbers.h"

#include <string>

#include "formats/lines/number_bytes.h"

namespace ecosort::lines {
namespace {

constexpr char separator_of_thousands = '\x80';

std::size_t count_digits(Text text, std::size_t from) noexcept {
  std::size_t end = from;
  while (end < text.size() && is_digit(text[end])) ++end;
  return end - from;
}

int unit_letter(char c) noexcept {
  return static_cast<int>(Text("KMGTPEZY").find(c == 'k' ? 'K' : c) + 1);  // 0 for none: npos + 1
}

}  // namespace

Decimal read_decimal(Text text) noexcept {
  text = without_leading_blanks(text);
  Decimal number;
  std::size_t at = 0;
  if (at < text.size() && text[at] == '-') {
    number.negative = true;
    ++at;
  }
  while (at < text.size() && text[at] == '0') ++at;
  number.whole = count_digits(text, at);
  number.whole_digits = text.data() + at;
  at += number.whole;
  const bool is_cut = at < text.size() && text[at] == separator_of_thousands;
  std::size_t fraction = 0;
  if (at < text.size() && text[at] == '.') {
    fraction = count_digits(text, at + 1);
    number.fraction_digits = text.data() + at + 1;
  }
  number.significant = number.whole + fraction;
  while (number.significant > 0 && number.digit(number.significant - 1) == '0') --number.significant;
  if (number.significant == 0) number = Decimal{};
  number.is_cut = is_cut;
  return number;
}

// The zero ends the sign: a minus sign behind a separator is none.
void SeparatedDecimal::join(Text text) {
  text = without_leading_blanks(text);
  std::size_t at = 0;
  if (text[at] == '-') {
    joined_ += '-';
    ++at;
  }
  joined_ += '0';
  for (; at < text.size() && (is_digit(text[at]) || text[at] == separator_of_thousands); ++at)
    if (is_digit(text[at])) joined_ += text[at];
  joined_ += text.substr(at);
  number_ = read_decimal(joined_);
}

int compare(const Decimal& a, const Decimal& b) noexcept { return compare_numbers(a, b); }

std::size_t encode(const Decimal& number, std::size_t skip, unsigned char* to, std::size_t room) noexcept {
  return encode_number(number, skip, to, room);
}

int unit_of(Text text) noexcept {
  text = without_leading_blanks(text);
  const bool negative = !text.empty() && text[0] == '-';
  std::size_t at = negative ? 1 : 0;
  const std::size_t whole = count_digits(text, at);
  bool zero = text.substr(at, whole).find_first_not_of('0') == Text::npos;
  at += whole;
  if (at < text.size() && text[at] == '.') {
    const std::size_t fraction = count_digits(text, at + 1);
    zero = zero && text.substr(at + 1, fraction).find_first_not_of('0') == Text::npos;
    at += 1 + fraction;
  }
  if (zero || at >= text.size()) return 0;
  const int unit = unit_letter(text[at]);
  return negative ? -unit : unit;
}

std::size_t decimal_length(Text text) noexcept {
  const std::size_t sign = text.starts_with('-') ? 1 : 0;
  const std::size_t whole = count_digits(text, sign);
  std::size_t end = sign + whole, fraction = 0;
  if (end < text.size() && text[end] == '.') {
    fraction = count_digits(text, end + 1);
    end += 1 + fraction;
  }
  return whole + fraction > 0 ? end : 0;
}

bool has_unit(Text text) noexcept {
  const std::size_t length = decimal_length(text);
  return length > 0 && length < text.size() && unit_letter(text[length]) != 0;
}

int month_of(Text text) noexcept {
  text = without_leading_blanks(text);
  if (text.size() < 3) return 0;
  const char name[3] = {to_upper(text[0]), to_upper(text[1]), to_upper(text[2])};
  constexpr Text months = "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC";
  for (std::size_t month = 0; month < 12; ++month)
    if (months.substr(3 * month, 3) == Text(name, 3)) return static_cast<int>(month) + 1;
  return 0;
}

}  // namespace ecosort::lines
