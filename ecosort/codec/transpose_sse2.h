// Vectors of 16 bytes for the transposition on x86-64: the baseline there, and what AVX2 takes where two tiles are too many.
//
// Internal linkage, as in transpose_kernel.h.
#pragma once

#include <emmintrin.h>

#include <cstddef>

namespace ecosort::codec {
namespace {

struct Sse2Bytes {
  using T = __m128i;
  using Half = Sse2Bytes;
  static constexpr std::size_t lanes = 1;

  static T load(const std::byte* from, std::size_t /*apart*/) noexcept {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  }
  static T interleave_low(T x, T y) noexcept { return _mm_unpacklo_epi8(x, y); }
  static T interleave_high(T x, T y) noexcept { return _mm_unpackhi_epi8(x, y); }
  static void store(std::byte* to, T x) noexcept { _mm_storeu_si128(reinterpret_cast<__m128i*>(to), x); }
};

}  // namespace
}  // namespace ecosort::codec
