#include "formats/lines/numbers.h"

#include <algorithm>
#include <string>

namespace ecosort::lines {
namespace {

constexpr unsigned char negative_byte = 0x7f, zero_byte = 0x80, positive_byte = 0x81;
constexpr char separator_of_thousands = '\x80';
constexpr std::size_t long_number = 0xff;  // digits; from here on eight more bytes tell the length

std::size_t count_digits(Text text, std::size_t from) noexcept {
  std::size_t end = from;
  while (end < text.size() && is_digit(text[end])) ++end;
  return end - from;
}

// Byte `at` of the magnitude: its length, then two digits in each byte. False behind the end.
bool magnitude_byte(const Decimal& number, std::size_t at, unsigned char& byte) noexcept {
  const std::size_t length_bytes = number.whole < long_number ? 1 : 9;
  if (at < length_bytes) {
    if (at == 0)
      byte = static_cast<unsigned char>(std::min(number.whole, long_number));
    else
      byte = static_cast<unsigned char>(number.whole >> (8 * (8 - at)));
    return true;
  }
  const std::size_t first = 2 * (at - length_bytes);
  if (first >= number.significant) return false;
  const int tens = number.digit(first) - '0';
  const int ones = first + 1 < number.significant ? number.digit(first + 1) - '0' : 0;
  byte = static_cast<unsigned char>(10 * tens + ones + 1);
  return true;
}

// One byte of the whole encoding. A negative number is complemented, and ends with a byte above all others.
bool encoded_byte(const Decimal& number, std::size_t at, unsigned char& byte) noexcept {
  if (at == 0) {
    byte = number.significant == 0 ? zero_byte : number.negative ? negative_byte : positive_byte;
    return true;
  }
  if (number.significant == 0) return false;
  if (magnitude_byte(number, at - 1, byte)) {
    if (number.negative) byte = static_cast<unsigned char>(~byte);
    return true;
  }
  unsigned char before = 0;
  if (!number.negative || (at >= 2 && !magnitude_byte(number, at - 2, before))) return false;
  byte = 0xff;
  return true;
}

// The usual case of encode(): from the beginning, of a number that is not zero and whose length fits in a byte. room >= 2.
std::size_t encode_beginning(const Decimal& number, unsigned char* to, std::size_t room) noexcept {
  to[0] = number.negative ? negative_byte : positive_byte;
  to[1] = static_cast<unsigned char>(number.whole);
  std::size_t count = 2;
  for (std::size_t first = 0; first < number.significant && count < room; first += 2) {
    const int tens = number.digit(first) - '0';
    const int ones = first + 1 < number.significant ? number.digit(first + 1) - '0' : 0;
    to[count++] = static_cast<unsigned char>(10 * tens + ones + 1);
  }
  if (!number.negative) return count;
  for (std::size_t i = 1; i < count; ++i) to[i] = static_cast<unsigned char>(~to[i]);
  if (count < room) to[count++] = 0xff;
  return count;
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

int compare(const Decimal& a, const Decimal& b) noexcept {
  const auto sign = [](const Decimal& x) { return x.significant == 0 ? 0 : x.negative ? -1 : 1; };
  if (sign(a) != sign(b)) return sign(a) < sign(b) ? -1 : 1;
  const int direction = sign(a);
  if (a.whole != b.whole) return a.whole < b.whole ? -direction : direction;
  const std::size_t common = std::min(a.significant, b.significant);
  for (std::size_t i = 0; i < common; ++i)
    if (a.digit(i) != b.digit(i)) return a.digit(i) < b.digit(i) ? -direction : direction;
  if (a.significant == b.significant) return 0;
  return a.significant < b.significant ? -direction : direction;
}

std::size_t encode(const Decimal& number, std::size_t skip, unsigned char* to, std::size_t room) noexcept {
  if (skip == 0 && room >= 2 && number.significant > 0 && number.whole < long_number) return encode_beginning(number, to, room);
  std::size_t count = 0;
  while (count < room && encoded_byte(number, skip + count, to[count])) ++count;
  return count;
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
