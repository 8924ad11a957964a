// Offset-value codes of rows whose key is the row (Do and Graefe, Robust and efficient sorting with offset-value coding, 2023):
// in how many pieces of 11 bytes a row agrees with the one that went out last, its base, and the next piece, as one number.
//
// Of two rows behind the same base the one with the smaller code comes first, and the other one's code holds behind it, too. So
// only rows with equal codes are looked at, from behind what they are known to share, and the one that loses gets the code of
// where they differ: a merge looks at no byte of a common beginning twice. Pieces make that exact: they begin at the same places
// in all rows. Rows end with their terminator and have line_slack_bytes behind it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "formats/lines/row_bytes.h"
#include "formats/records/encoder.h"
#include "formats/row_format.h"

namespace ecosort::engine::rows {

// A code: in how many pieces a row agrees with its base, and the next one, of which the last byte is left out.
//
//   prefix | most_pieces - pieces | seven bytes |   extension | four bytes |
inline constexpr unsigned pieces_bits = 8, pieces_shift = 64 - pieces_bits;
inline constexpr std::uint64_t most_pieces = (1U << pieces_bits) - 1;

[[nodiscard]] inline records::KeyWindow code_of(std::size_t pieces, records::KeyWindow next) noexcept {
  return {(most_pieces - pieces) << pieces_shift | next.prefix >> pieces_bits,
          static_cast<std::uint32_t>(next.prefix) << (32 - pieces_bits) | next.extension >> pieces_bits};
}
[[nodiscard]] inline std::size_t pieces_of(std::uint64_t prefix) noexcept { return most_pieces - (prefix >> pieces_shift); }

class RowCodes {
 public:
  // Only for formats whose rows_are_keys().
  explicit RowCodes(const formats::RowFormat& format)
      : format_(format), is_ascending_(!format.descends(0)), bytes_(format.terminator(), is_ascending_ ? 0 : ~std::uint64_t{0}) {}

  // Lets pieces begin where rows that agree in so many bytes most often differ, for all codes to come: what a code has of a piece
  // in front of that says nothing. The first piece is shorter then.
  void align(std::span<const std::size_t> common) noexcept;

  // The code of a row that shares `common` bytes with its base. Where so many pieces cannot be counted it is that of fewer, in
  // all rows alike.
  [[nodiscard]] records::KeyWindow code(const char* row, std::size_t common) const noexcept {
    const std::size_t pieces = std::min<std::size_t>((common + lacking_) / lines::window_bytes, most_pieces);
    const records::KeyWindow next = bytes_.window(row + begin_of(pieces)), mask = pieces == 0 ? first_piece_ : whole_piece;
    return code_of(pieces, {next.prefix & mask.prefix, next.extension & mask.extension});
  }
  // The order of two rows, without their codes: negative where a goes first.
  [[nodiscard]] int compare(Text a, Text b) const {
    constexpr std::size_t word = sizeof(std::uint64_t);
    if (std::min(a.size(), b.size()) >= word) {
      const auto x = lines::load_big_endian<std::uint64_t>(a.data()), y = lines::load_big_endian<std::uint64_t>(b.data());
      if (x != y) return (x < y) == is_ascending_ ? -1 : 1;
    }
    return format_.compare(a, b);
  }
  // In how many bytes two rows agree.
  [[nodiscard]] static std::size_t common(Text a, Text b) noexcept;
  // Returns the bytes in which rows with equal codes agree, of which these are known.
  [[nodiscard]] std::size_t common(const char* a, const char* b, std::uint64_t prefix) const noexcept {
    const std::size_t known = begin_of(pieces_of(prefix));
    return known + bytes_.common(a + known, b + known, SIZE_MAX);
  }
  // The order of rows that agree in so many bytes and no more: negative where a goes first.
  [[nodiscard]] int order(const char* a, const char* b, std::size_t common) const noexcept {
    return bytes_.order_at(a + common, b + common);
  }

 private:
  static constexpr records::KeyWindow whole_piece{~std::uint64_t{0}, ~std::uint32_t{0}};

  [[nodiscard]] std::size_t begin_of(std::size_t piece) const noexcept {
    return piece == 0 ? 0 : piece * lines::window_bytes - lacking_;
  }

  const formats::RowFormat& format_;
  bool is_ascending_;
  lines::RowBytes bytes_;
  std::size_t lacking_ = 0;  // bytes by which the first piece is shorter
  records::KeyWindow first_piece_ = whole_piece;
};

inline void RowCodes::align(std::span<const std::size_t> common) noexcept {
  std::size_t least = SIZE_MAX;
  for (std::size_t lacking = 0; lacking < lines::window_bytes; ++lacking) {
    std::size_t told_nothing = 0;
    for (const std::size_t bytes : common) told_nothing += (bytes + lacking) % lines::window_bytes;
    if (told_nothing >= least) continue;
    least = told_nothing;
    lacking_ = lacking;
  }
  const std::size_t left = lines::window_bytes - lacking_;
  first_piece_ = {lines::window_masks.prefix[left], lines::window_masks.extension[left]};
}

// No byte behind the rows is read: the one that went out last may lie where nothing follows it.
inline std::size_t RowCodes::common(Text a, Text b) noexcept {
  const std::size_t most = std::min(a.size(), b.size());
  std::size_t at = 0;
#if defined(__SSE2__) || defined(__aarch64__)
  constexpr std::size_t step = 16;
  const auto agreeing = [&](std::size_t from) {
#if defined(__SSE2__)
    const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(a.data() + from)),
                  y = _mm_loadu_si128(reinterpret_cast<const __m128i*>(b.data() + from));
    return static_cast<unsigned>(__builtin_ctz(~static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(x, y)))));
#else
    const uint8x16_t x = vld1q_u8(reinterpret_cast<const std::uint8_t*>(a.data() + from)),
                     y = vld1q_u8(reinterpret_cast<const std::uint8_t*>(b.data() + from));
    const std::uint64_t differing = ~nibbles_of(vceqq_u8(x, y));
    return differing == 0 ? unsigned{step} : static_cast<unsigned>(__builtin_ctzll(differing)) / 4;
#endif
  };
  for (; at + step <= most; at += step)
    if (const unsigned found = agreeing(at); found < step) return at + found;
  if (most >= step) return most - step + agreeing(most - step);
#endif
  while (at < most && a[at] == b[at]) ++at;
  return at;
}

}  // namespace ecosort::engine::rows
