// Finds the bytes that mean something in a dialect, as masks of 64 bytes, over the vectors V of line_kernels_body.h. Everything
// here has internal linkage, as there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "formats/csv/dialect.h"
#include "formats/lines/line_kernels_body.h"

namespace {

using ecosort::csv::Dialect;

// `hidden`: newlines that are escaped.
struct Masks {
  std::uint64_t delimiters, delimiter_ends, newlines, quotes, returns, hidden;
};

// Finds the signs of a simple dialect, 64 bytes at a time, one block after the other. `text` holds `size` bytes.
template <class V>
class SimpleSigns {
 public:
  SimpleSigns(const char* /*text*/, std::size_t /*size*/, Dialect dialect, bool /*begins_escaped*/ = false) noexcept
      : dialect_(dialect) {}

  Masks next(const Block<V>& block, std::size_t /*at*/) noexcept {
    const std::uint64_t delimiters = block.matches(dialect_.delimiter.first());
    return {delimiters, delimiters, block.matches('\n'), dialect_.quote ? block.matches(*dialect_.quote) : 0, 0, 0};
  }
  static constexpr bool has_escapes = false, is_escaped = false;
  static constexpr std::size_t delimiter_bytes = 1;

 private:
  const Dialect dialect_;
};

// Finds the signs of any dialect. A delimiter has no newline, quote or escape, so that all of it is inside of quotes or none of
// it, and only its first byte may be escaped.
template <class V>
class AnySigns {
 public:
  AnySigns(const char* text, std::size_t size, Dialect dialect, bool begins_escaped = false) noexcept
      : delimiter_bytes(dialect.delimiter.size()), is_escaped(begins_escaped), text_(text), size_(size), dialect_(dialect) {}

  Masks next(const Block<V>& block, std::size_t at) noexcept {
    Masks masks{block.matches(dialect_.delimiter.first()), 0, block.matches('\n'), 0, 0, 0};
    if (dialect_.quote) masks.quotes = block.matches(*dialect_.quote);
    const std::uint64_t escapes = dialect_.escape ? block.matches(*dialect_.escape) : 0;
    if (escapes != 0 || is_escaped) {
      const std::uint64_t escaped = escaped_by(escapes);
      is_escaped |= (escaped & ~block.counted()) != 0;
      masks.hidden = masks.newlines & escaped;
      masks.newlines &= ~escaped;
      masks.quotes &= ~escaped;
      masks.delimiters &= ~escaped;
      has_escapes = true;
    }
    if (delimiter_bytes > 1)
      keep_whole(masks, at);
    else
      masks.delimiter_ends = masks.delimiters;
    return masks;
  }

  const std::size_t delimiter_bytes;
  bool has_escapes = false;
  bool is_escaped;  // the byte behind the last block is

 private:
  std::uint64_t escaped_by(std::uint64_t escapes) noexcept {
    std::uint64_t escaped = is_escaped ? 1 : 0;
    is_escaped = false;
    for (; escapes != 0; escapes &= escapes - 1) {
      const std::uint64_t escape = escapes & -escapes;
      if ((escape & escaped) != 0) continue;
      escaped |= escape << 1U;
      is_escaped |= escape >> 63U != 0;
    }
    return escaped;
  }

  // Keeps delimiters all of whose bytes are there; the first one counts where they overlap.
  void keep_whole(Masks& masks, std::size_t at) noexcept {
    const ecosort::Text delimiter = dialect_.delimiter.text();
    std::uint64_t begins = 0;
    for (std::uint64_t left = masks.delimiters; left != 0; left &= left - 1) {
      const std::size_t place = at + static_cast<std::size_t>(__builtin_ctzll(left));
      if (place < behind_ || size_ - place < delimiter_bytes) continue;
      if (std::memcmp(text_ + place, delimiter.data(), delimiter_bytes) != 0) continue;
      begins |= left & -left;
      behind_ = place + delimiter_bytes;
    }
    masks.delimiters = begins;
    masks.delimiter_ends = begins << (delimiter_bytes - 1) | ends_;
    ends_ = begins >> (65 - delimiter_bytes);
  }

  const char* text_;
  std::size_t size_;
  const Dialect dialect_;
  std::size_t behind_ = 0;  // the last delimiter
  std::uint64_t ends_ = 0;  // of delimiters in the next block
};

}  // namespace
