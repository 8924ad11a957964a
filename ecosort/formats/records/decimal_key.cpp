#include "formats/records/decimal_key.h"

#include <algorithm>

namespace ecosort::records {
namespace {

char char_at(const std::byte* field, std::uint32_t at) { return static_cast<char>(field[at]); }

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\0'; }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The codes of fields of `length` bytes go up to 4 * length + 1.
std::uint32_t code_bytes(std::uint32_t length) {
  if (length <= 63) return 1;
  return length <= 16383 ? 2 : 3;
}

std::uint32_t end_of_digits(const std::byte* field, std::uint32_t at, std::uint32_t end) {
  while (at < end && is_digit(char_at(field, at))) ++at;
  return at;
}

std::uint32_t end_of_zeros(const std::byte* field, std::uint32_t at, std::uint32_t end) {
  while (at < end && char_at(field, at) == '0') ++at;
  return at;
}

}  // namespace

std::uint64_t DecimalKey::key_bytes(std::uint32_t length) noexcept {
  return std::uint64_t{code_bytes(length)} + (std::uint64_t{length} + 1) / 2;
}

DecimalKey::DecimalKey(const std::byte* field, std::uint32_t length) noexcept : field_(field), length_(length) {
  std::uint32_t at = 0;
  std::uint32_t end = length;
  while (at < end && is_blank(char_at(field, at))) ++at;
  while (end > at && is_blank(char_at(field, end - 1))) --end;
  if (at < end && (char_at(field, at) == '-' || char_at(field, at) == '+')) negative_ = char_at(field, at++) == '-';

  const std::uint32_t whole = at;
  const std::uint32_t point = end_of_digits(field, whole, end);
  const bool has_point = point < end && char_at(field, point) == '.';
  const std::uint32_t fraction = has_point ? point + 1 : point;
  const bool has_digits = point > whole || end > fraction;
  if (!has_digits || end_of_digits(field, fraction, end) != end) {
    negative_ = false;
    return;  // no number
  }

  std::int64_t magnitude = 0;
  first_digit_ = end_of_zeros(field, whole, point);
  if (first_digit_ < point) {
    before_point_ = point - first_digit_;
    digits_ = before_point_ + (end - fraction);
    magnitude = before_point_;
  } else {
    first_digit_ = end_of_zeros(field, fraction, end);
    before_point_ = digits_ = end - first_digit_;
    magnitude = -static_cast<std::int64_t>(first_digit_ - fraction);
  }
  const std::int64_t size = length;
  if (digits_ == 0) {
    negative_ = false;
    code_ = static_cast<std::uint32_t>(2 * size + 1);
  } else {
    code_ = static_cast<std::uint32_t>(negative_ ? 1 + size - magnitude : 3 * size + 1 + magnitude);
  }
}

unsigned DecimalKey::digit(std::uint64_t number) const noexcept {
  if (number >= digits_) return 0;
  const std::uint64_t at = first_digit_ + number + (number >= before_point_ ? 1 : 0);
  return std::to_integer<unsigned>(field_[at]) - unsigned{'0'};
}

std::uint64_t DecimalKey::word(std::uint64_t skip) const noexcept {
  const std::uint64_t code_end = code_bytes(length_);
  const std::uint64_t end = key_bytes(length_);
  std::uint64_t word = 0;
  for (std::uint64_t at = skip; at < skip + sizeof word; ++at) {
    unsigned byte = 0;
    if (at < code_end) {
      byte = code_ >> (8 * (code_end - 1 - at)) & 0xffU;
    } else if (at < end) {
      const std::uint64_t pair = at - code_end;
      byte = 10 * digit(2 * pair) + digit(2 * pair + 1);
      if (negative_) byte = 99 - byte;
    }
    word = word << 8U | byte;
  }
  return word;
}

}  // namespace ecosort::records
