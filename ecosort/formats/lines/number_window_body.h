// The window of a number, compiled once per instruction set over a type D of what is done with its digits:
//
//   D(at, size)           the first 16 bytes of a text, zeros behind it
//   non_digits()          bit i: byte i is no digit; and bit 16
//   take(count, point)    numbers of two digits, 0 to 99, of the first `count` digits, at most 14, where byte number `point` is
//                         left out; the first one in the highest byte. And how many of the digits count, up to the last one
//                         that is not zero
//
// Everything here has internal linkage, so that no function compiled for a newer processor can stand in for the plain one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "formats/lines/number_window.h"

namespace {

struct SixteenBytes {
  std::uint64_t low = 0, high = 0;  // the first byte lowest
};

template <class Word>
std::uint64_t load_word(const char* at) noexcept {
  Word word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

// Zeros behind the text. Two loads, which overlap in shorter texts: a copy of as many bytes as there are would have to reach
// memory before it can be loaded. Nothing outside of the text is read.
inline SixteenBytes load_beginning(const char* at, std::size_t size) noexcept {
  if (size >= 16) return {load_word<std::uint64_t>(at), load_word<std::uint64_t>(at + 8)};
  if (size >= 8) return {load_word<std::uint64_t>(at), load_word<std::uint64_t>(at + size - 8) >> 8 * (15 - size) >> 8U};
  if (size >= 4) {
    const std::uint64_t behind = load_word<std::uint32_t>(at + size - 4) >> 8 * (8 - size);
    return {load_word<std::uint32_t>(at) | behind << 32U, 0};
  }
  SixteenBytes bytes;
  for (std::size_t i = 0; i < size; ++i) bytes.low |= std::uint64_t{static_cast<unsigned char>(at[i])} << 8 * i;
  return bytes;
}

struct DigitPairs {
  std::uint64_t bytes;
  std::size_t digits;
};

constexpr std::uint64_t each_byte = 0x0101010101010101;
constexpr std::size_t most_digits = 14;  // so that their pairs, and what ends a negative number, fit in eight bytes
constexpr std::size_t no_point = 16;

// In the words of numbers.cpp: a byte for the sign, one for the digits before the point, and one for each pair of digits, 1 to
// 100. All bits are turned in a negative number, without a branch, as signs follow no pattern. False: not plain enough.
template <class D>
bool read_number(const char* text, std::size_t size, ecosort::lines::NumberWindow& number) noexcept {
  const char* at = text;
  const char* const end = text + size;
  while (at < end && (*at == ' ' || *at == '\t' || *at == '\n')) ++at;
  const std::uint64_t turn = at < end && *at == '-' ? ~std::uint64_t{0} : 0;
  at += turn & 1U;
  const char* const first = at;
  while (at < end && *at == '0') ++at;
  const D digits(at, static_cast<std::size_t>(end - at));
  std::uint32_t stops = digits.non_digits();
  const auto whole = static_cast<std::size_t>(__builtin_ctz(stops));
  if (whole > most_digits) return false;
  number.has_point = at + whole < end && at[whole] == '.';
  if (number.has_point) stops &= stops - 1;
  const auto length = static_cast<std::size_t>(__builtin_ctz(stops)), count = length - (number.has_point ? 1 : 0);
  if (count > most_digits || (at + length < end && static_cast<unsigned char>(at[length]) >= 0x80)) return false;
  number.has_digits = count > 0 || at > first;
  number.length = static_cast<std::size_t>(at - text) + length;
  const DigitPairs pairs = digits.take(count, number.has_point ? whole : no_point);
  if (pairs.digits == 0) {
    number.window = {std::uint64_t{0x80} << 56U, 1};
    return true;
  }
  const std::size_t bytes = (pairs.digits + 1) / 2;
  const std::uint64_t counted = ~std::uint64_t{0} << (64 - 8 * bytes);
  const std::uint64_t magnitude = ((pairs.bytes + (each_byte & counted)) ^ turn) & (counted >> 8U | counted);
  const std::uint64_t sign = 0x81 ^ (turn & 0xfe), exponent = whole ^ (turn & 0xff);
  number.window = {sign << 56U | exponent << 48U | magnitude >> 16U,
                   static_cast<std::uint32_t>(magnitude << 16U) | static_cast<std::uint32_t>(bytes + 2 + (turn & 1U))};
  return true;
}

}  // namespace
