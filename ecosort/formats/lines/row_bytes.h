// Bytes of rows whose length is not known: each ends with its terminator, which is found while the bytes are looked at. A row has
// line_slack_bytes behind its end, so that whole words can be loaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include "base/neon_bits.h"
#endif

#include "formats/lines/key_bytes.h"
#include "formats/lines/text.h"
#include "formats/records/encoder.h"

namespace ecosort::lines {

// The bytes that a window with so many bytes has.
struct WindowMasks {
  constexpr WindowMasks() noexcept {
    for (unsigned i = 0; i < 8; ++i) prefix[i + 1] = prefix[i] | std::uint64_t{0xff} << (56 - 8 * i);
    for (unsigned i = 9; i <= window_room; ++i) prefix[i] = prefix[8];
    for (unsigned i = 8; i < window_bytes; ++i) extension[i + 1] = extension[i] | 0xffU << (24 - 8 * (i - 8));
    extension[window_room] = extension[window_bytes];
  }
  std::uint64_t prefix[window_room + 1] = {};
  std::uint32_t extension[window_room + 1] = {};
};
inline constexpr WindowMasks window_masks{};

class RowBytes {
 public:
  // `flip`: all ones where the larger row comes first.
  RowBytes(char terminator, std::uint64_t flip) noexcept
      : terminator_(terminator), pattern_(each_byte * static_cast<unsigned char>(terminator)), flip_(flip) {}

  // The window at `at`, which is in the row or at its end.
  [[nodiscard]] records::KeyWindow window(const char* at) const noexcept {
    const std::size_t count = bytes_to_end(at);
    const std::uint64_t prefix = load_big_endian<std::uint64_t>(at) & window_masks.prefix[count];
    const std::uint32_t rest = load_big_endian<std::uint32_t>(at + 8) & window_masks.extension[count];
    return {prefix ^ flip_, (rest | static_cast<std::uint32_t>(count)) ^ static_cast<std::uint32_t>(flip_)};
  }
  // Returns how many bytes of its row a window holds: more than window_bytes where the row may have bytes behind it.
  [[nodiscard]] std::size_t size_in(std::uint32_t extension) const noexcept {
    return static_cast<unsigned char>(extension ^ static_cast<std::uint32_t>(flip_));
  }
  [[nodiscard]] bool is_cut(std::uint32_t extension) const noexcept { return size_in(extension) > window_bytes; }

  // In how many bytes two rows agree from these places on; at most `most`, and never more than one of them has.
  [[nodiscard]] std::size_t common(const char* a, const char* b, std::size_t most) const noexcept {
    for (std::size_t at = 0; at < most; at += 8) {
      const std::uint64_t x = load(a + at), stops = (x ^ load(b + at)) | ends(x);
      if (stops == 0) continue;
      const std::size_t found = at + static_cast<std::size_t>(__builtin_ctzll(stops)) / 8;
      return found < most ? found : most;
    }
    return most;
  }

  // Compares the rest of the rows from these places on: negative where a goes first.
  [[nodiscard]] int compare(const char* a, const char* b) const noexcept {
    const std::size_t at = common(a, b, SIZE_MAX);
    return order_at(a + at, b + at);
  }
  // Compares where the first bytes there differ, or both rows end.
  [[nodiscard]] int order_at(const char* a, const char* b) const noexcept {
    if (*a == *b) return 0;
    const bool is_less =
        *a == terminator_ || (*b != terminator_ && static_cast<unsigned char>(*a) < static_cast<unsigned char>(*b));
    return is_less == (flip_ == 0) ? -1 : 1;
  }

 private:
  static constexpr std::uint64_t each_byte = 0x0101010101010101;

  static std::uint64_t load(const char* at) noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    return word;
  }
  // The lowest bit that is set is in the first byte that is the terminator.
  [[nodiscard]] std::uint64_t ends(std::uint64_t word) const noexcept {
    const std::uint64_t x = word ^ pattern_;
    return (x - each_byte) & ~x & (0x80 * each_byte);
  }
  // At most window_room.
  [[nodiscard]] std::size_t bytes_to_end(const char* at) const noexcept {
#if defined(__SSE2__)
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const int found = _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(terminator_)));
    return static_cast<std::size_t>(__builtin_ctz(static_cast<unsigned>(found) | 1U << window_room));
#elif defined(__aarch64__)
    const uint8x16_t bytes = vld1q_u8(reinterpret_cast<const std::uint8_t*>(at));
    const std::uint64_t found = nibbles_of(vceqq_u8(bytes, vdupq_n_u8(static_cast<std::uint8_t>(terminator_))));
    return static_cast<std::size_t>(__builtin_ctzll(found | std::uint64_t{1} << 4 * window_room)) / 4;
#else
    if (const std::uint64_t first = ends(load(at)); first != 0) return static_cast<std::size_t>(__builtin_ctzll(first)) / 8;
    const std::uint64_t second = ends(load(at + 8)) | std::uint64_t{0x80} << 32U;
    return 8 + static_cast<std::size_t>(__builtin_ctzll(second)) / 8;
#endif
  }

  char terminator_;
  std::uint64_t pattern_, flip_;
};

}  // namespace ecosort::lines
