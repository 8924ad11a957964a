// The transposition over vectors of 16 bytes, or of 16 bytes twice.
//
// A tile is 16 rows by 16 columns. Four rounds of interleaving row i with row i + 8 transpose it: each round moves the highest
// bit of a byte's row number to the lowest place of its column number, and that of its column number to the lowest place of its
// row number. Vectors of two lanes do two tiles, one below the other, at a time.
//
// Tiles that reach over the right or the lower border begin earlier instead and do some bytes twice.
//
// Everything here has internal linkage, so that no function compiled for a newer processor can replace the plain one.
#pragma once

#include <cstddef>
#include <cstring>

namespace ecosort::codec {
namespace {

constexpr std::size_t tile_side = 16;

// Bytes [from, rows) x [0, columns) one after the other.
inline void transpose_rows_plainly(const std::byte* in, std::size_t from, std::size_t rows, std::size_t columns,
                                   std::byte* out) noexcept {
  for (std::size_t r = from; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c) out[c * rows + r] = in[r * columns + c];
}

// `Vector` has T, lanes, Half, load(from, apart), interleave_low(), interleave_high(), store(to, vector) of all lanes.
template <class Vector>
[[gnu::always_inline]] inline void interleave_rounds(typename Vector::T (&v)[tile_side]) noexcept {
  constexpr std::size_t half = tile_side / 2;
#pragma GCC unroll 4
  for (int round = 0; round < 4; ++round) {
    typename Vector::T next[tile_side];
#pragma GCC unroll 8
    for (std::size_t i = 0; i < half; ++i) {
      next[2 * i] = Vector::interleave_low(v[i], v[i + half]);
      next[2 * i + 1] = Vector::interleave_high(v[i], v[i + half]);
    }
#pragma GCC unroll 16
    for (std::size_t i = 0; i < tile_side; ++i) v[i] = next[i];
  }
}

template <class Vector>
[[gnu::always_inline]] inline void load_tile(const std::byte* in, std::size_t columns,
                                             typename Vector::T (&v)[tile_side]) noexcept {
#pragma GCC unroll 16
  for (std::size_t i = 0; i < tile_side; ++i) v[i] = Vector::load(in + i * columns, tile_side * columns);
}

// At least 16 columns, and as many rows as a vector has bytes. The columns are done in panels, so that the lines of the cache
// that are written stay there until they are full.
template <class Vector>
void transpose_tiles(const std::byte* in, std::size_t rows, std::size_t columns, std::byte* out) noexcept {
  constexpr std::size_t height = tile_side * Vector::lanes, panel = 8 * tile_side;
  for (std::size_t left = 0; left < columns; left += panel) {
    const std::size_t right = columns - left < panel ? columns : left + panel;
    for (std::size_t row = 0; row < rows; row += height) {
      const std::size_t r = row < rows - height ? row : rows - height;
      for (std::size_t column = left; column < right; column += tile_side) {
        const std::size_t c = column < columns - tile_side ? column : columns - tile_side;
        typename Vector::T v[tile_side];
        load_tile<Vector>(in + r * columns + c, columns, v);
        interleave_rounds<Vector>(v);
#pragma GCC unroll 16
        for (std::size_t i = 0; i < tile_side; ++i) Vector::store(out + (c + i) * rows + r, v[i]);
      }
    }
  }
}

// Less than 16 columns: each row is loaded with what follows it.
template <class Vector>
void transpose_narrow(const std::byte* in, std::size_t rows, std::size_t columns, std::byte* out) noexcept {
  constexpr std::size_t height = tile_side * Vector::lanes;
  std::size_t r = 0;
  for (; (r + height - 1) * columns + tile_side <= rows * columns; r += height) {
    typename Vector::T v[tile_side];
    load_tile<Vector>(in + r * columns, columns, v);
    interleave_rounds<Vector>(v);
    for (std::size_t c = 0; c < columns; ++c) Vector::store(out + c * rows + r, v[c]);
  }
  transpose_rows_plainly(in, r, rows, columns, out);
}

// Less than 16 rows: each column is stored with bytes behind it that the next one covers.
template <class Vector>
void transpose_flat(const std::byte* in, std::size_t rows, std::size_t columns, std::byte* out) noexcept {
  static_assert(Vector::lanes == 1);
  std::size_t c = 0;
  for (; c + tile_side <= columns && (c + tile_side - 1) * rows + tile_side <= rows * columns; c += tile_side) {
    typename Vector::T v[tile_side] = {};
    for (std::size_t r = 0; r < rows; ++r) v[r] = Vector::load(in + r * columns + c, 0);
    interleave_rounds<Vector>(v);
#pragma GCC unroll 16
    for (std::size_t i = 0; i < tile_side; ++i) Vector::store(out + (c + i) * rows, v[i]);
  }
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t column = c; column < columns; ++column) out[column * rows + r] = in[r * columns + column];
}

template <class Vector>
void transpose_with(const std::byte* in, std::size_t rows, std::size_t columns, std::byte* out) noexcept {
  using Half = typename Vector::Half;
  if (rows <= 1 || columns <= 1) {
    if (rows * columns > 0) std::memcpy(out, in, rows * columns);
  } else if (columns < tile_side) {
    transpose_narrow<Vector>(in, rows, columns, out);
  } else if (rows < tile_side) {
    transpose_flat<Half>(in, rows, columns, out);
  } else if (rows < tile_side * Vector::lanes) {
    transpose_tiles<Half>(in, rows, columns, out);
  } else {
    transpose_tiles<Vector>(in, rows, columns, out);
  }
}

}  // namespace
}  // namespace ecosort::codec
