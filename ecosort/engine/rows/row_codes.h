// Offset-value codes of rows whose last key is the row (Do and Graefe, Robust and efficient sorting with offset-value coding,
// 2023): in how many pieces of 11 bytes a row agrees with the one that went out last, its base, and the next piece, as one
// number.
//
// If other keys go before the row, the first window, which may hold them all, is one piece more, in front of those of the row:
//
//   keyed row | window of the keys before | piece of the row | piece of the row | ...
//
// Rows agree in it only if it holds all of these keys; so where it does not, rows with equal ones are compared whole. Behind keys
// that are no rows the pieces are windows of them (merge_tree.h).
//
// Two rows behind the same base are in the order of their codes, and the larger code holds behind the other row, too. So only
// rows with equal codes are looked at, from behind what they are known to share, and the one that loses gets the code of where
// they differ: a merge looks at no byte of a common beginning twice. Pieces make that exact: they begin at the same places in all
// rows. Rows end with their terminator and have line_slack_bytes behind it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "formats/lines/line_order.h"
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

// The keys of a row whose code begins with their window.
struct RowKeys {
  records::KeyWindow window{};
  // For rows whose last key is the row, of the keys before it: rows that agree in so many bytes have the same, and rows with this
  // window differ in the row alone.
  std::size_t bytes = SIZE_MAX;
  bool are_all = false;
};

class RowCodes {
 public:
  // Only for formats with can_code().
  explicit RowCodes(const formats::RowFormat& format)
      : format_(format),
        keyed_pieces_(format.rows_are_keys() ? 0 : 1),
        is_ascending_(!format.descends(row_level(format))),
        bytes_(format.terminator(), is_ascending_ ? 0 : ~std::uint64_t{0}) {}

  // Returns whether the last key is the row, and the others may fit in one window.
  [[nodiscard]] static bool can_code(const formats::RowFormat& format);

  // Returns whether other keys go before the row.
  [[nodiscard]] bool is_keyed() const noexcept { return keyed_pieces_ > 0; }

  // Lets pieces begin where rows that agree in so many bytes most often differ, for all codes to come: what a code has of a piece
  // in front of that says nothing. The first piece is shorter then.
  void align(std::span<const std::size_t> common) noexcept;

  // The code of a row that has the keys of its base, and shares `common` bytes with it. Where so many pieces cannot be counted it
  // is that of fewer, in all rows alike.
  [[nodiscard]] records::KeyWindow code(const char* row, std::size_t common) const noexcept {
    const std::size_t pieces = std::min<std::size_t>((common + lacking_) / lines::window_bytes, most_pieces - keyed_pieces_);
    const records::KeyWindow next = bytes_.window(row + begin_of(pieces)), mask = pieces == 0 ? first_piece_ : whole_piece;
    return code_of(keyed_pieces_ + pieces, {next.prefix & mask.prefix, next.extension & mask.extension});
  }

  // The keys before the row, where there are any.
  [[nodiscard]] RowKeys keys_of(Text row) const;
  [[nodiscard]] bool have_equal_keys(Text a, Text b) const;
  // The code of a row that may have other keys than its base, and shares `common` bytes with it: `keys`, those of its base,
  // become its own. They are found and read only where the bytes in which the base has its own are others.
  [[nodiscard]] records::KeyWindow code(Text row, std::size_t common, RowKeys& keys) const {
    return is_keyed() ? keyed_code(row, common, keys) : code(row.data(), common);
  }

  // The order of two rows by their bytes, without their codes: negative where a goes first.
  [[nodiscard]] int compare(Text a, Text b) const {
    constexpr std::size_t word = sizeof(std::uint64_t);
    if (std::min(a.size(), b.size()) >= word) {
      const auto x = lines::load_big_endian<std::uint64_t>(a.data()), y = lines::load_big_endian<std::uint64_t>(b.data());
      if (x != y) return (x < y) == is_ascending_ ? -1 : 1;
    }
    const int order = a.compare(b);
    return is_ascending_ ? order : -((order > 0) - (order < 0));
  }
  // In how many bytes two rows agree.
  [[nodiscard]] static std::size_t common(Text a, Text b) noexcept;
  // Returns the bytes in which rows with equal codes agree, of which these are known. Not of those that show keys.
  [[nodiscard]] std::size_t common(const char* a, const char* b, std::uint64_t prefix) const noexcept {
    return common_from(a, b, begin_of(pieces_of(prefix) - keyed_pieces_));
  }
  // Returns in how many bytes two rows agree that are known to agree in `known`.
  [[nodiscard]] std::size_t common_from(const char* a, const char* b, std::size_t known) const noexcept {
    return known + bytes_.common(a + known, b + known, SIZE_MAX);
  }
  // The order of rows that agree in so many bytes and no more: negative where a goes first.
  [[nodiscard]] int order(const char* a, const char* b, std::size_t common) const noexcept {
    return bytes_.order_at(a + common, b + common);
  }

 private:
  static constexpr records::KeyWindow whole_piece{~std::uint64_t{0}, ~std::uint32_t{0}};

  [[nodiscard]] records::KeyWindow keyed_code(Text row, std::size_t common, RowKeys& keys) const;
  [[nodiscard]] static std::size_t bytes_of_keys(const lines::LineOrder& order, Text row, unsigned level) noexcept;
  [[nodiscard]] static unsigned row_level(const formats::RowFormat& format) noexcept {
    return format.rows_are_keys() ? 0 : format.levels() - 1;
  }
  [[nodiscard]] std::size_t begin_of(std::size_t piece) const noexcept {
    return piece == 0 ? 0 : piece * lines::window_bytes - lacking_;
  }

  const formats::RowFormat& format_;
  std::size_t keyed_pieces_;  // in front of those of the row
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

inline bool RowCodes::can_code(const formats::RowFormat& format) {
  if (format.rows_are_keys()) return true;
  return lines::as_line_order(format) != nullptr && format.levels() > 1 &&
         format.key_bytes(row_level(format)) == formats::KeyBytes::of_row;
}

// Rows that agree with this one in so many bytes have the same keys before `level`: where a key begins and ends shows in the
// bytes up to the one behind it. SIZE_MAX: a key goes on to the end of the row.
inline std::size_t RowCodes::bytes_of_keys(const lines::LineOrder& order, Text row, unsigned level) noexcept {
  std::size_t bytes = 0;
  for (unsigned i = 0; i < level; ++i) {
    const std::size_t end = std::max(order.key_begin(row, i), order.key_end(row, i));
    if (end == row.size()) return SIZE_MAX;
    bytes = std::max(bytes, end + 1);
  }
  return bytes;
}

inline RowKeys RowCodes::keys_of(Text row) const {
  const records::KeyWindow window = format_.window(row, 0, 0);
  const formats::KeyPlace place = format_.behind_first(window);
  const unsigned level = row_level(format_);
  return {window, bytes_of_keys(static_cast<const lines::LineOrder&>(format_), row, level),
          place.level == level && place.depth == 0};
}

// A call: the keys of few rows are read, and inside the loop over rows that would take registers from it.
[[gnu::noinline]] inline records::KeyWindow RowCodes::keyed_code(Text row, std::size_t common, RowKeys& keys) const {
  const records::KeyWindow of_base = keys.window;
  if (common < keys.bytes) keys = keys_of(row);
  return keys.are_all && keys.window == of_base ? code(row.data(), common) : code_of(0, keys.window);
}

inline bool RowCodes::have_equal_keys(Text a, Text b) const {
  if (!is_keyed()) return true;
  const RowKeys keys = keys_of(a);
  return keys.are_all && keys.window == format_.window(b, 0, 0);
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
