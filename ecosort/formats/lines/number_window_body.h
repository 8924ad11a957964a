// The window of a number, compiled once per instruction set over a type D of what is done with the first 16 bytes of a text:
//
//   D(at, size)          zeros follow a shorter text
//   digits(), zeros()    bit i: byte i is a digit, or '0'
//   minus()              1 if the first byte is '-', else 0: a number, not a bool, which would become a branch
//   points(), high()     bit i: byte i is '.', or 0x80 and above
//   take(places)         numbers of two digits, 0 to 99, of the digits there, at most 14; the first one in the highest byte
//
// Everything here has internal linkage, so that no function compiled for a newer processor can replace the plain one.
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

constexpr std::uint64_t each_byte = 0x0101010101010101;
constexpr unsigned most_bytes = 16;
constexpr unsigned most_digits = 14;  // so that their pairs, and what ends a negative number, fit in eight bytes

// Says where the digits of a number lie: from `begin` to `end`, but for a point at `whole_end` if that comes before.
struct DigitPlaces {
  unsigned begin, whole_end, end;
};

// In the words of numbers.cpp: a byte for the sign, one for the digits before the point, and one for each pair of digits up to
// the last one that is not zero, 1 to 100. All bits are turned in a negative number, without a branch, as signs follow no
// pattern.
inline void set_window(ecosort::lines::NumberWindow& number, std::uint64_t pairs, std::uint64_t whole,
                       std::uint64_t turn) noexcept {
  if (pairs == 0) [[unlikely]] {
    number.prefix = std::uint64_t{0x80} << 56U;
    number.extension = 1;
    return;
  }
  const std::uint64_t unused = static_cast<unsigned>(__builtin_ctzll(pairs)) & 56U;  // bits
  const std::uint64_t counted = ~std::uint64_t{0} << unused;
  const std::uint64_t magnitude = (pairs + (each_byte & counted)) ^ (turn & (counted >> 8U | counted));
  const std::uint64_t beginning = (std::uint64_t{0x81} << 56U | whole << 48U) ^ (turn & std::uint64_t{0xfeff} << 48U);
  number.prefix = beginning | magnitude >> 16U;
  number.extension = static_cast<std::uint32_t>(magnitude << 16U) | static_cast<std::uint32_t>(10 - unused / 8 - turn);
}

inline unsigned first_bit(std::uint32_t bits) noexcept { return static_cast<unsigned>(__builtin_ctz(bits)); }

// Returns whether digits in front of this byte are a whole number.
inline bool ends_whole(char c) noexcept { return c != '.' && (static_cast<unsigned char>(c) & 0x80U) == 0; }

// Reads a text without blanks in front. Where the number's parts lie is found by arithmetic on masks, as its length, its sign and
// its point follow no pattern that branches could be predicted by.
template <class D>
[[gnu::always_inline]] inline ecosort::lines::NumberWindow read_digits(const char* at, std::size_t size) noexcept {
  ecosort::lines::NumberWindow number;
  const D bytes(at, size);
  constexpr std::uint32_t behind = std::uint32_t{1} << most_bytes;  // the bit that ends all
  // Most numbers are whole, without a sign. Whole columns are so, or are not: the branch is cheaper than the masks.
  const unsigned leading = first_bit(~bytes.digits() | behind);
  if (leading - 1 < most_digits && *at != '0' && (leading == size || ends_whole(at[leading]))) {
    number.length = static_cast<std::uint16_t>(leading);
    number.has_digits = true;
    set_window(number, bytes.take({0, leading, leading}), leading, 0);
    return number;
  }
  const std::uint32_t minus = bytes.minus(), from = ~minus;  // the bits behind the sign
  const std::uint32_t others = (~bytes.digits() | behind) & from;
  const unsigned whole_end = first_bit(others), begin = first_bit((~bytes.zeros() | behind) & from);
  const std::uint32_t point = bytes.points() >> whole_end & 1U;
  const unsigned end = first_bit(others ^ point << whole_end), digits = end - begin - point;
  if (digits > most_digits || (end == most_bytes && size > most_bytes) || (bytes.high() >> end & 1U) != 0) [[unlikely]]
    return number;
  number.length = static_cast<std::uint16_t>(end);
  number.has_point = point != 0;
  number.has_digits = end > minus + point;
  set_window(number, bytes.take({begin, whole_end, end}), whole_end - begin, -static_cast<std::uint64_t>(minus));
  return number;
}

template <class D>
[[gnu::noinline]] ecosort::lines::NumberWindow read_behind_blanks(const char* text, std::size_t size) noexcept {
  std::size_t blanks = 0;
  while (blanks < size && (text[blanks] == ' ' || text[blanks] == '\t' || text[blanks] == '\n')) ++blanks;
  ecosort::lines::NumberWindow number = read_digits<D>(text + blanks, size - blanks);
  if (number.is_there() && blanks < number.none - most_bytes)
    number.length = static_cast<std::uint16_t>(number.length + blanks);
  else
    number.length = number.none;
  return number;
}

template <class D>
inline ecosort::lines::NumberWindow read_number(const char* text, std::size_t size) noexcept {
  const ecosort::lines::NumberWindow number = read_digits<D>(text, size);
  if (number.length == 0) [[unlikely]]
    return read_behind_blanks<D>(text, size);
  return number;
}

}  // namespace
