// UTF-8 (RFC 3629).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/text.h"

namespace ecosort {

// Bytes of the character at `at`, whose first byte is not ASCII; 0 if there is none: overlong forms, surrogates and what is
// beyond U+10FFFF are none.
[[nodiscard]] inline std::size_t utf8_character(const char* at, const char* end) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(at[i]); };
  const auto goes_on = [&](std::size_t i) { return (byte(i) & 0xc0U) == 0x80U; };
  const auto left = static_cast<std::size_t>(end - at);
  const unsigned char first = byte(0);
  if (first < 0xc2 || first > 0xf4) return 0;
  if (first < 0xe0) return left >= 2 && goes_on(1) ? 2 : 0;
  if (first < 0xf0) {
    if (left < 3 || !goes_on(1) || !goes_on(2)) return 0;
    if (first == 0xe0 && byte(1) < 0xa0) return 0;
    return first == 0xed && byte(1) >= 0xa0 ? 0 : 3;
  }
  if (left < 4 || !goes_on(1) || !goes_on(2) || !goes_on(3)) return 0;
  if (first == 0xf0 && byte(1) < 0x90) return 0;
  return first == 0xf4 && byte(1) >= 0x90 ? 0 : 4;
}

// Returns whether the text is nothing but characters.
[[nodiscard]] inline bool is_utf8(Text text) noexcept {
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    std::uint64_t word = 0;
    if (end - at >= 8) std::memcpy(&word, at, 8);
    if (end - at >= 8 && (word & 0x8080808080808080) == 0) {
      at += 8;
    } else if (static_cast<unsigned char>(*at) < 0x80) {
      ++at;
    } else {
      const std::size_t size = utf8_character(at, end);
      if (size == 0) return false;
      at += size;
    }
  }
  return true;
}

}  // namespace ecosort
