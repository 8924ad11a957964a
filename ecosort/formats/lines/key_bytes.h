// Windows of keys whose bytes are at hand (formats/row_format.h says what a window is).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "formats/lines/text.h"
#include "formats/records/encoder.h"
#include "formats/row_format.h"

namespace ecosort::lines {

inline constexpr std::uint32_t window_bytes = formats::RowFormat::window_bytes;
inline constexpr std::size_t window_room = window_bytes + 1;  // one more shows that the window is cut

[[nodiscard]] inline records::KeyWindow complement(records::KeyWindow window) noexcept {
  return {~window.prefix, ~window.extension};
}

// Makes a window of the key's bytes from the window's depth on: `count` of them, or window_room and more.
[[nodiscard]] records::KeyWindow make_window(const unsigned char* bytes, std::size_t count, bool reverse) noexcept;

// Bytes depth ... of the text, at most window_room; returns how many.
inline std::size_t copy_from(Text text, std::size_t depth, unsigned char* to) noexcept {
  if (depth >= text.size()) return 0;
  const std::size_t count = std::min(text.size() - depth, window_room);
  std::memcpy(to, text.data() + depth, count);
  return count;
}

// The first window of plain bytes: of a text that is longer than one, and of one that is not. `flip`: all ones where reversed.
[[nodiscard]] inline records::KeyWindow cut_window(const char* at, std::uint64_t flip) noexcept {
  const std::uint32_t extension = (load_big_endian<std::uint32_t>(at + 8) & 0xffffff00U) | (window_bytes + 1);
  return {load_big_endian<std::uint64_t>(at) ^ flip, extension ^ static_cast<std::uint32_t>(flip)};
}
[[nodiscard]] records::KeyWindow short_window(Text text, std::uint64_t flip) noexcept;
[[nodiscard]] inline records::KeyWindow text_window(Text text, std::uint64_t flip) noexcept {
  return text.size() > window_bytes ? cut_window(text.data(), flip) : short_window(text, flip);
}

// In how many bytes the texts agree, from `skip` on that are known to agree.
[[nodiscard]] std::size_t common_beginning(Text a, Text b, std::size_t skip) noexcept;
// Counts the bytes where small letters are as good as capital ones.
[[nodiscard]] std::size_t common_folded(Text a, Text b, std::size_t skip) noexcept;

}  // namespace ecosort::lines
