// The bodies of the CSV kernels over the vectors V of line_kernels_body.h and a type B of operations on bits:
//
//   B::prefix_xor(bits)   bit i: whether an odd number of bits up to i is set
//   B::select(bits, n)    the place of bit number n of those that are set, from 0 on
//
// Everything here has internal linkage, as there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "formats/csv/csv_kernels.h"
#include "formats/csv/csv_signs_body.h"
#include "formats/lines/line_kernels_body.h"

namespace {

using ecosort::csv::CsvKernels;
using ecosort::csv::Scan;

// Every processor has these operations.
struct PlainBits {
  static std::uint64_t prefix_xor(std::uint64_t bits) noexcept {
    for (unsigned shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
    return bits;
  }
  static std::size_t select(std::uint64_t bits, std::size_t n) noexcept {
    for (; n > 0; --n) bits &= bits - 1;
    return static_cast<std::size_t>(__builtin_ctzll(bits));
  }
};

// Carries over what the bytes before a block leave open.
struct Before {
  std::uint64_t inside = 0;    // all ones: a quote is open
  std::uint64_t border = 1;    // the last byte was a delimiter or an end, or there was none
  std::uint64_t close = 0;     // the last byte was a quote that closes
  std::uint64_t close_cr = 0;  // the last two were such a quote and a carriage return
};

// Finds the delimiters and newlines outside of quotes. Sets `wrong` where a quote is within a value or is followed by one.
template <class B>
std::uint64_t borders_among_quotes(const Masks& masks, Before& before, std::uint64_t counted, std::uint64_t& wrong,
                                   std::uint64_t& inside) noexcept {
  inside = B::prefix_xor(masks.quotes) ^ before.inside;  // from the quote that opens up to the byte before the one that closes
  const std::uint64_t borders = (masks.delimiter_ends | masks.newlines) & ~inside;
  const std::uint64_t opens = masks.quotes & inside, closes = masks.quotes & ~inside;
  const std::uint64_t behind_close = closes << 1U | before.close;
  const std::uint64_t behind_close_cr = (behind_close & masks.returns) << 1U | before.close_cr;
  wrong = opens & ~(borders << 1U | before.border | behind_close);
  wrong |= behind_close & ~(masks.delimiters | masks.newlines | masks.quotes | masks.returns);
  wrong |= behind_close_cr & ~masks.newlines;
  wrong &= counted;
  before = {static_cast<std::uint64_t>(static_cast<std::int64_t>(inside) >> 63), borders >> 63U, closes >> 63U,
            (behind_close & masks.returns) >> 63U};
  return borders;
}

template <class V, class B, class Signs>
void scan_rows(const char* text, std::size_t size, Dialect dialect, Scan& scan) noexcept {
  std::uint32_t* next = scan.offsets;
  std::size_t rows = 0;
  std::uint64_t all_quotes = 0, all_wrong = 0, newlines_inside = 0;
  Before before;
  Signs signs(text, size, dialect);
  for (std::size_t at = 0; at < size; at += 64) {
    const Block<V> block(text, at, size);
    Masks masks = signs.next(block, at);
    std::uint64_t borders = masks.delimiter_ends | masks.newlines;
    newlines_inside |= masks.hidden;
    if ((masks.quotes | before.inside | before.close | before.close_cr) != 0) {
      masks.returns = block.matches('\r');
      std::uint64_t wrong = 0, inside = 0;
      borders = borders_among_quotes<B>(masks, before, block.counted(), wrong, inside);
      all_quotes = 1;
      all_wrong |= wrong;
      newlines_inside |= masks.newlines & inside;
    } else {
      before.border = borders >> 63U;
    }
    rows += static_cast<std::size_t>(__builtin_popcountll(borders & masks.newlines));
    next = add_offsets<V>(borders, at, next);
  }
  scan.count = static_cast<std::size_t>(next - scan.offsets);
  scan.rows = rows;
  scan.has_quotes = all_quotes != 0 || signs.has_escapes;
  scan.is_wrong = all_wrong != 0;
  scan.ends_inside = newlines_inside != 0;
}

template <class V, class B, class Signs>
const char* find_row_end(const char* at, const char* end, Dialect dialect, ecosort::formats::Inside& inside) noexcept {
  const auto size = static_cast<std::size_t>(end - at);
  std::uint64_t open = inside.quotes ? ~std::uint64_t{0} : 0;
  dialect.delimiter = '\n';  // no other one matters
  Signs signs(at, size, dialect, inside.escape);
  for (std::size_t i = 0; i < size; i += 64) {
    const Block<V> block(at, i, size);
    const Masks masks = signs.next(block, i);
    std::uint64_t newlines = masks.newlines;
    if ((masks.quotes | open) != 0) {
      const std::uint64_t quoted = B::prefix_xor(masks.quotes) ^ open;
      newlines &= ~quoted;
      open = static_cast<std::uint64_t>(static_cast<std::int64_t>(quoted) >> 63);
    }
    if (newlines == 0) continue;
    inside = {};
    return at + i + static_cast<std::size_t>(__builtin_ctzll(newlines));
  }
  inside = {open != 0, signs.is_escaped};
  return nullptr;
}

template <class V, class B, class Signs>
CsvKernels::Span find_field(const char* row, std::size_t size, Dialect dialect, std::size_t column) noexcept {
  CsvKernels::Span span{column == 0 ? 0 : size, size};
  std::size_t to_pass = column;  // delimiters in front of the field
  std::uint64_t open = 0;
  Signs signs(row, size, dialect);
  for (std::size_t at = 0; at < size; at += 64) {
    const Block<V> block(row, at, size);
    const Masks masks = signs.next(block, at);
    std::uint64_t delimiters = masks.delimiter_ends;
    const std::uint64_t quotes = masks.quotes;
    if ((quotes | open) != 0) {
      const std::uint64_t inside = B::prefix_xor(quotes) ^ open;
      delimiters &= ~inside;
      open = static_cast<std::uint64_t>(static_cast<std::int64_t>(inside) >> 63);
    }
    if (to_pass > 0) {
      const auto count = static_cast<std::size_t>(__builtin_popcountll(delimiters));
      if (count < to_pass) {
        to_pass -= count;
        continue;
      }
      const std::size_t place = B::select(delimiters, to_pass - 1);
      to_pass = 0;
      span.begin = at + place + 1;
      delimiters &= ~std::uint64_t{1} << place;
    }
    if (delimiters == 0) continue;
    span.end = at + static_cast<std::size_t>(__builtin_ctzll(delimiters)) + 1 - signs.delimiter_bytes;
    break;
  }
  return span;
}

// The bits up to the first newline, or all.
constexpr std::uint64_t up_to_end(std::uint64_t newlines) noexcept { return newlines ^ (newlines - 1); }

// Does as find_plain_row() does, for a row that ends within 128 bytes and whose field ends within 64, without a branch that
// depends on where.
template <class V, class B>
inline CsvKernels::PlainRow find_short_row(const char* row, Dialect dialect, std::size_t column) noexcept {
  const std::uint64_t near = V::matches(row, '\n'), far = V::matches(row + 64, '\n');
  const std::uint64_t borders = (V::matches(row, dialect.delimiter.first()) | near) & up_to_end(near);
  if ((near | far) == 0 || static_cast<std::size_t>(__builtin_popcountll(borders)) <= column) [[unlikely]]
    return {};
  if (dialect.quote) {
    const std::uint64_t far_part = up_to_end(far) & -static_cast<std::uint64_t>(near == 0);
    if (((V::matches(row, *dialect.quote) & up_to_end(near)) | (V::matches(row + 64, *dialect.quote) & far_part)) != 0)
        [[unlikely]]
      return {};
  }
  const std::uint64_t begin = column == 0 ? 0 : B::select(borders, column - 1) + 1;
  return {first_of(near, far), begin | static_cast<std::uint64_t>(__builtin_ctzll(borders >> begin << begin)) << 32U};
}

// A newline is the last border of a row.
template <class V, class B>
[[gnu::noinline]] CsvKernels::PlainRow find_long_row(const char* row, std::size_t room, Dialect dialect,
                                                     std::size_t column) noexcept {
  std::uint64_t begin = 0, end = 0;
  std::size_t to_pass = column;  // borders in front of the field
  for (std::size_t at = 0; at < room; at += 64) {
    const Block<V> block(row, at, room);
    const std::uint64_t newlines = block.matches('\n'), of_row = up_to_end(newlines);
    if (dialect.quote && (block.matches(*dialect.quote) & of_row) != 0) return {};
    std::uint64_t borders = (block.matches(dialect.delimiter.first()) | newlines) & of_row;
    if (const auto count = static_cast<std::size_t>(__builtin_popcountll(borders)); count < to_pass) {
      to_pass -= count;
      borders = 0;
    } else if (to_pass > 0) {
      const std::size_t place = B::select(borders, to_pass - 1);
      to_pass = 0;
      begin = at + place + 1;
      borders &= ~std::uint64_t{1} << place;
    }
    if (end == 0 && borders != 0) end = at + static_cast<std::size_t>(__builtin_ctzll(borders)) + 1;
    if (newlines == 0) continue;
    if (end == 0) return {};
    return {at + static_cast<std::size_t>(__builtin_ctzll(newlines)), begin | (end - 1) << 32U};
  }
  return {};
}

template <class V, class B>
CsvKernels::PlainRow find_plain_row(const char* row, std::size_t room, Dialect dialect, std::size_t column) noexcept {
  if (room >= 128) [[likely]] {
    const CsvKernels::PlainRow found = find_short_row<V, B>(row, dialect, column);
    if (found.size != found.none) [[likely]]
      return found;
  }
  return find_long_row<V, B>(row, room, dialect, column);
}

// Does as copy_rest() of lines, from the beginning of a row with quotes.
template <class V, class B>
[[gnu::noinline]] std::size_t copy_quoted_row(char* to, std::size_t room, const char* row, char quote) noexcept {
  std::uint64_t open = 0;
  for (std::size_t at = 0; at + 64 <= room; at += 64) {
    const std::uint64_t newlines = V::copy(to + at, row + at, '\n');
    const std::uint64_t inside = B::prefix_xor(V::matches(row + at, quote)) ^ open;
    open = static_cast<std::uint64_t>(static_cast<std::int64_t>(inside) >> 63);
    if (const std::uint64_t ends = newlines & ~inside; ends != 0) return at + 1 + static_cast<std::size_t>(__builtin_ctzll(ends));
  }
  return 0;
}

template <class V, class B>
std::size_t gather_rows(const ecosort::lines::GatherTask& given, std::uint32_t* sizes) noexcept {
  const ecosort::lines::GatherTask task = given;  // as gather_lines()
  return gather_each<Length::is_long>(
      task, sizes, [&task](char* to, std::size_t room, const char* row, const ecosort::sorting::Entry& /*entry*/) {
        return copy_quoted_row<V, B>(to, room, row, task.quote);
      });
}

inline CsvKernels::PlainRow find_no_plain_row(const char* /*row*/, std::size_t /*room*/, Dialect /*dialect*/,
                                              std::size_t /*column*/) noexcept {
  return {};
}

template <class V, class B>
constexpr ecosort::csv::CsvKernelsOfLevel csv_kernels_over() noexcept {
  using Simple = SimpleSigns<V>;
  using Any = AnySigns<V>;
  return {
      {scan_rows<V, B, Simple>, find_row_end<V, B, Simple>, find_field<V, B, Simple>, find_plain_row<V, B>, gather_rows<V, B>},
      {scan_rows<V, B, Any>, find_row_end<V, B, Any>, find_field<V, B, Any>, find_no_plain_row, gather_rows<V, B>}};
}

}  // namespace
