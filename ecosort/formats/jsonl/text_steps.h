// Steps over the bytes of JSON, eight at a time.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ecosort::jsonl {

inline constexpr std::uint64_t each_byte = 0x0101010101010101, upper_bits = 0x80 * each_byte;

[[nodiscard]] constexpr bool is_white(char c) noexcept { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

[[nodiscard]] inline const char* behind_white(const char* at, const char* end) noexcept {
  while (at != end && is_white(*at)) ++at;
  return at;
}

// Upper bits of the bytes that are zero, of the lowest one at least.
[[nodiscard]] constexpr std::uint64_t zero_bytes(std::uint64_t word) noexcept { return (word - each_byte) & ~word & upper_bits; }

// Upper bits of quotes and backslashes.
[[nodiscard]] constexpr std::uint64_t quotes_in(std::uint64_t word) noexcept {
  return zero_bytes(word ^ '"' * each_byte) | zero_bytes(word ^ '\\' * each_byte);
}

// Finds control characters too, and bytes that are not ASCII.
[[nodiscard]] constexpr std::uint64_t special_in(std::uint64_t word) noexcept {
  return quotes_in(word) | ((word - ' ' * each_byte) & ~word & upper_bits) | (word & upper_bits);
}

[[nodiscard]] constexpr bool is_quote(char c) noexcept { return c == '"' || c == '\\'; }
[[nodiscard]] constexpr bool is_special(char c) noexcept {
  return is_quote(c) || static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) >= 0x80;
}

// The first byte in [at, end) of which `is_one` and, eight at a time, `ones_in` say so; else `end`.
template <std::uint64_t (*ones_in)(std::uint64_t), bool (*is_one)(char)>
[[nodiscard]] const char* find_byte(const char* at, const char* end) noexcept {
  for (; end - at >= 8; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
    if (const std::uint64_t ones = ones_in(word); ones != 0) return at + static_cast<std::size_t>(std::countr_zero(ones)) / 8;
  }
  while (at != end && !is_one(*at)) ++at;
  return at;
}

[[nodiscard]] inline const char* find_quote(const char* at, const char* end) noexcept {
  return find_byte<quotes_in, is_quote>(at, end);
}
[[nodiscard]] inline const char* find_special(const char* at, const char* end) noexcept {
  return find_byte<special_in, is_special>(at, end);
}

}  // namespace ecosort::jsonl
