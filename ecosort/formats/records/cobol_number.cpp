#include "formats/records/cobol_number.h"

namespace ecosort::records {
namespace {

constexpr unsigned no_digit = 10;

// The sign of EBCDIC and of packed numbers.
bool is_sign(unsigned half_byte) { return half_byte >= 0xA; }
bool is_minus(unsigned half_byte) { return half_byte == 0xB || half_byte == 0xD; }

bool is_ascii_minus(unsigned byte) { return byte == '}' || (byte >= 'J' && byte <= 'R') || (byte >= 'p' && byte <= 'y'); }

// The digit of a last byte in ASCII.
unsigned ascii_digit(unsigned byte) {
  if (byte >= '0' && byte <= '9') return byte - '0';
  if (byte == '{' || byte == '}') return 0;
  if (byte >= 'A' && byte <= 'I') return byte - 'A' + 1;
  if (byte >= 'J' && byte <= 'R') return byte - 'J' + 1;
  return byte >= 'p' && byte <= 'y' ? byte - 'p' : no_digit;
}

}  // namespace

std::uint64_t CobolNumber::key_bytes(RecordKeyType type, std::uint32_t length) noexcept {
  return type == RecordKeyType::packed ? length : std::uint64_t{length} / 2 + 1;
}

CobolNumber::CobolNumber(RecordKeyType type, const std::byte* field, std::uint32_t length) noexcept
    : field_(field), length_(length), is_packed_(type == RecordKeyType::packed) {
  if (!has_minus()) return;
  const std::uint64_t digits = is_packed_ ? 2 * std::uint64_t{length} - 1 : length;
  for (std::uint64_t i = 0; i < digits && !is_negative_; ++i) is_negative_ = digit(i) != 0;
}

bool CobolNumber::has_minus() const noexcept {
  const unsigned last = byte(length_ - 1);
  if (is_packed_) return is_minus(last & 0xfU);
  return last >= 0x80 ? is_minus(last >> 4U) : is_ascii_minus(last);
}

bool CobolNumber::is_valid() const noexcept {
  const unsigned last = byte(length_ - 1);
  if (is_packed_) {
    for (std::uint64_t i = 0; i + 1 < 2 * std::uint64_t{length_}; ++i)
      if (digit(i) > 9) return false;
    return is_sign(last & 0xfU);
  }
  const bool is_ebcdic = last >= 0x80;
  const unsigned zone = is_ebcdic ? 0xF : 0x3;
  for (std::uint64_t i = 0; i + 1 < length_; ++i)
    if (byte(i) >> 4U != zone || (byte(i) & 0xfU) > 9) return false;
  return is_ebcdic ? is_sign(last >> 4U) && (last & 0xfU) <= 9 : ascii_digit(last) != no_digit;
}

unsigned CobolNumber::digit(std::uint64_t number) const noexcept {
  if (is_packed_) return number % 2 == 0 ? byte(number / 2) >> 4U : byte(number / 2) & 0xfU;
  const unsigned value = byte(number);
  return number + 1 < length_ || value >= 0x80 ? value & 0xfU : ascii_digit(value);
}

unsigned CobolNumber::half_byte(std::uint64_t number) const noexcept {
  if (number == 0) return is_negative_ ? 0 : 1;
  const std::uint64_t digits = is_packed_ ? 2 * std::uint64_t{length_} - 1 : length_;
  if (number > digits) return 0;
  const unsigned value = digit(number - 1);
  return is_negative_ ? (9 - value) & 0xfU : value;
}

std::uint64_t CobolNumber::word(std::uint64_t skip) const noexcept {
  std::uint64_t word = 0;
  for (std::uint64_t i = 2 * skip; i < 2 * skip + 2 * sizeof word; ++i) word = word << 4U | half_byte(i);
  return word;
}

}  // namespace ecosort::records
