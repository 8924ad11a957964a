// Hexadecimal numbers and UUIDs: digits of four bits.
#include <algorithm>

#include "formats/keys/code.h"
#include "formats/keys/number.h"
#include "formats/lines/text.h"

namespace ecosort::keys {
namespace {

constexpr unsigned no_hex_digit = 16;

constexpr unsigned hex_digit(char c) noexcept {
  if (lines::is_digit(c)) return static_cast<unsigned>(c - '0');
  c = lines::to_upper(c);
  return c >= 'A' && c <= 'F' ? static_cast<unsigned>(c - 'A' + 10) : no_hex_digit;
}

constexpr bool is_hex_digit(char c) noexcept { return hex_digit(c) != no_hex_digit; }

// Two digits to a byte, the first one by itself where their number is odd.
void add_hex_digits(Text digits, Code& code) {
  std::size_t at = digits.size() % 2;
  if (at == 1) code.add(hex_digit(digits[0]));
  for (; at < digits.size(); at += 2) code.add(hex_digit(digits[at]) << 4U | hex_digit(digits[at + 1]));
}

constexpr std::size_t uuid_digits = 32, uuid_hyphens[] = {8, 13, 18, 23};

// Writes the digits of a UUID that has four hyphens, or none; false for another text.
bool take_uuid_digits(Text text, char* to) noexcept {
  const bool has_hyphens = text.size() == uuid_digits + std::size(uuid_hyphens);
  if (!has_hyphens && text.size() != uuid_digits) return false;
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (has_hyphens && std::ranges::find(uuid_hyphens, i) != std::end(uuid_hyphens)) {
      if (text[i] != '-') return false;
      continue;
    }
    if (!is_hex_digit(text[i])) return false;
    to[count++] = text[i];
  }
  return true;
}

}  // namespace

// Sign and number of digits go first: more digits are a larger number. All of a negative one but its sign is complemented.
bool code_hex(Text value, Code& code) {
  Text text = lines::without_blanks(value);
  const bool is_negative = take_sign(text);
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  if (text.empty() || !std::ranges::all_of(text, is_hex_digit)) return false;
  const Text digits = text.substr(std::min(text.find_first_not_of('0'), text.size()));
  const bool is_below_zero = is_negative && !digits.empty();
  constexpr std::size_t many_digits = 255;  // from here on eight more bytes have their number
  code.add(is_below_zero ? 1U : 2U);
  code.add(static_cast<unsigned>(std::min(digits.size(), many_digits)));
  if (digits.size() >= many_digits) code.add_number(digits.size(), 8);
  add_hex_digits(digits, code);
  if (is_below_zero) code.complement_from(1);
  return true;
}

bool code_uuid(Text value, Code& code) {
  constexpr Text urn = "urn:uuid:";
  Text text = lines::without_blanks(value);
  if (text.size() > urn.size() && is_word(text.substr(0, urn.size()), urn))
    text.remove_prefix(urn.size());
  else if (text.starts_with('{') && text.ends_with('}'))
    text = text.substr(1, text.size() - 2);
  char digits[uuid_digits];
  if (!take_uuid_digits(text, digits)) return false;
  add_hex_digits({digits, uuid_digits}, code);
  return true;
}

}  // namespace ecosort::keys
