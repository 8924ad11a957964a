// Bytes that order decimal numbers, and their comparison, for whatever holds a number:
//
//   number.negative       never of zero
//   number.whole          digits before the point, from the first one that is not zero on
//   number.significant    digits in all up to the last one that is not zero; 0 for zero
//   number.digit(i)       the digits, from '0' to '9', i < significant
#pragma once

#include <algorithm>
#include <cstddef>

namespace ecosort::lines {

inline constexpr unsigned char negative_byte = 0x7f, zero_byte = 0x80, positive_byte = 0x81;
inline constexpr std::size_t long_number = 0xff;  // digits; from here on eight more bytes have the length

// Byte `at` of the magnitude: its length, then two digits in each byte. False behind the end.
template <class Number>
bool magnitude_byte(const Number& number, std::size_t at, unsigned char& byte) noexcept {
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
template <class Number>
bool encoded_byte(const Number& number, std::size_t at, unsigned char& byte) noexcept {
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
template <class Number>
std::size_t encode_beginning(const Number& number, unsigned char* to, std::size_t room) noexcept {
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

template <class Number>
int compare_numbers(const Number& a, const Number& b) noexcept {
  const auto sign = [](const Number& x) { return x.significant == 0 ? 0 : x.negative ? -1 : 1; };
  if (sign(a) != sign(b)) return sign(a) < sign(b) ? -1 : 1;
  const int direction = sign(a);
  if (a.whole != b.whole) return a.whole < b.whole ? -direction : direction;
  const std::size_t common = std::min(a.significant, b.significant);
  for (std::size_t i = 0; i < common; ++i)
    if (a.digit(i) != b.digit(i)) return a.digit(i) < b.digit(i) ? -direction : direction;
  if (a.significant == b.significant) return 0;
  return a.significant < b.significant ? -direction : direction;
}

template <class Number>
std::size_t encode_number(const Number& number, std::size_t skip, unsigned char* to, std::size_t room) noexcept {
  if (skip == 0 && room >= 2 && number.significant > 0 && number.whole < long_number) return encode_beginning(number, to, room);
  std::size_t count = 0;
  while (count < room && encoded_byte(number, skip + count, to[count])) ++count;
  return count;
}

}  // namespace ecosort::lines
