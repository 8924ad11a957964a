// The vectors of the line kernels (line_kernels_body.h) for AVX-512.
#pragma once

// GCC 12 warns about its own AVX-512 intrinsics, which start from a deliberately undefined register.
#pragma GCC diagnostic ignored "-Wuninitialized"
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

#include "formats/lines/line_kernels_body.h"

namespace {

struct Avx512Vectors {
  static std::uint64_t matches(const char* at, char c) noexcept {
    return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(at), _mm512_set1_epi8(c));
  }
  static std::uint64_t matches(const char* at, char c, std::uint64_t counted) noexcept {
    return _mm512_mask_cmpeq_epi8_mask(counted, _mm512_maskz_loadu_epi8(counted, at), _mm512_set1_epi8(c));
  }
  static std::uint64_t copy(char* to, const char* at, char c) noexcept {
    const __m512i bytes = _mm512_loadu_si512(at);
    _mm512_storeu_si512(to, bytes);
    return _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(c));
  }
  static std::uint32_t copy_half(char* to, const char* at, char c) noexcept {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), bytes);
    return _mm256_cmpeq_epi8_mask(bytes, _mm256_set1_epi8(c));
  }
  static __m512i product(__m512i words, const std::uint64_t* keys, __mmask8 wanted) noexcept {
    const __m512i sum = _mm512_add_epi32(words, _mm512_loadu_si512(keys));
    return _mm512_maskz_mul_epu32(wanted, sum, _mm512_srli_epi64(sum, 32));
  }
  // 16 words, as most lines have at most, without a branch; those that the line lacks count as zero.
  static LineSums sums(const char* line, std::size_t words) noexcept {
    const std::uint32_t present = _bzhi_u32(0xffff, static_cast<std::uint32_t>(words));
    const auto low = static_cast<__mmask8>(present), high = static_cast<__mmask8>(present >> 8U);
    const __m512i first = _mm512_maskz_loadu_epi64(low, line), second = _mm512_maskz_loadu_epi64(high, line + 64);
    __m512i a = _mm512_add_epi64(product(first, hash_keys.a, low), product(second, hash_keys.a + 8, high));
    __m512i b = _mm512_add_epi64(product(first, hash_keys.b, low), product(second, hash_keys.b + 8, high));
    for (std::size_t i = 16; i < words; i += 8) {
      const auto wanted = static_cast<__mmask8>(_bzhi_u32(0xff, static_cast<std::uint32_t>(words - i)));
      const __m512i more = _mm512_maskz_loadu_epi64(wanted, line + i * word_bytes);
      a = _mm512_add_epi64(a, product(more, hash_keys.a + i, wanted));
      b = _mm512_add_epi64(b, product(more, hash_keys.b + i, wanted));
    }
    const __m512i pairs = _mm512_add_epi64(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
    const __m256i halves = _mm256_add_epi64(_mm512_castsi512_si256(pairs), _mm512_extracti64x4_epi64(pairs, 1));
    const __m128i folded = _mm_add_epi64(_mm256_castsi256_si128(halves), _mm256_extracti128_si256(halves, 1));
    return {static_cast<std::uint64_t>(_mm_cvtsi128_si64(folded)), static_cast<std::uint64_t>(_mm_extract_epi64(folded, 1))};
  }
};

}  // namespace
