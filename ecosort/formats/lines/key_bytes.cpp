#include "formats/lines/key_bytes.h"

#include <bit>

namespace ecosort::lines {

records::KeyWindow make_window(const unsigned char* bytes, std::size_t count, bool reverse) noexcept {
  unsigned char window[16] = {};
  std::memcpy(window, bytes, std::min<std::size_t>(count, window_bytes));
  window[window_bytes] = static_cast<unsigned char>(std::min(count, window_room));
  const auto* const text = reinterpret_cast<const char*>(window);
  const records::KeyWindow made{load_big_endian<std::uint64_t>(text), load_big_endian<std::uint32_t>(text + 8)};
  return reverse ? complement(made) : made;
}

// Two loads, which overlap in shorter texts; shifts drop what was loaded twice. Nothing outside of the text is read.
records::KeyWindow short_window(Text text, std::uint64_t flip) noexcept {
  const char* const at = text.data();
  const std::size_t size = text.size();
  std::uint64_t prefix = 0;
  std::uint32_t extension = 0;
  if (size >= 8) {
    prefix = load_big_endian<std::uint64_t>(at);
    if (size > 8) extension = load_big_endian<std::uint32_t>(at + size - 4) << 8 * (12 - size);
    extension |= static_cast<std::uint32_t>(size);
  } else if (size >= 4) {
    prefix = std::uint64_t{load_big_endian<std::uint32_t>(at)} << 32U;
    if (size > 4) prefix |= load_big_endian<std::uint32_t>(at + size - 4) << 8 * (8 - size);
    extension = static_cast<std::uint32_t>(size);
  } else {
    for (std::size_t i = 0; i < size; ++i) prefix |= std::uint64_t{static_cast<unsigned char>(at[i])} << (56 - 8 * i);
    extension = static_cast<std::uint32_t>(size);
  }
  return {prefix ^ flip, extension ^ static_cast<std::uint32_t>(flip)};
}

std::size_t common_beginning(Text a, Text b, std::size_t skip) noexcept {
  const std::size_t end = std::min(a.size(), b.size());
  std::size_t at = std::min(skip, end);
  for (; at + 8 <= end; at += 8) {
    std::uint64_t x = 0, y = 0;
    std::memcpy(&x, a.data() + at, 8);
    std::memcpy(&y, b.data() + at, 8);
    if (x != y) return at + static_cast<std::size_t>(std::countr_zero(x ^ y)) / 8;
  }
  while (at < end && a[at] == b[at]) ++at;
  return std::max(at, skip);
}

std::size_t common_folded(Text a, Text b, std::size_t skip) noexcept {
  const std::size_t end = std::min(a.size(), b.size());
  for (std::size_t at = skip;; ++at) {
    at = common_beginning(a, b, at);
    if (at >= end || to_upper(a[at]) != to_upper(b[at])) return at;
  }
}

}  // namespace ecosort::lines
