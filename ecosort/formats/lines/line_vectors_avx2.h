// The vectors of the line kernels (line_kernels_body.h) for AVX2.
#pragma once

#include <immintrin.h>

#include "formats/lines/line_kernels_body.h"

namespace {

struct Avx2Vectors {
  static __m256i load(const void* from) noexcept { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }
  static std::uint32_t matches(__m256i bytes, char c) noexcept {
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(c))));
  }
  static std::uint64_t matches(const char* at, char c) noexcept {
    return matches(load(at), c) | std::uint64_t{matches(load(at + 32), c)} << 32U;
  }
  static std::uint32_t copy_half(char* to, const char* at, char c) noexcept {
    const __m256i bytes = load(at);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), bytes);
    return matches(bytes, c);
  }
  static std::uint64_t copy(char* to, const char* at, char c) noexcept {
    return copy_half(to, at, c) | std::uint64_t{copy_half(to + 32, at + 32, c)} << 32U;
  }
  static __m256i product(__m256i words, __m256i keys) noexcept {
    const __m256i sum = _mm256_add_epi32(words, keys);
    return _mm256_mul_epu32(sum, _mm256_srli_epi64(sum, 32));
  }
  static LineSums sums(const char* line, std::size_t words) noexcept {
    __m256i a = _mm256_setzero_si256(), b = a;
    std::size_t i = 0;
    for (; i + 4 <= words; i += 4) {
      const __m256i four = load(line + i * word_bytes);
      a = _mm256_add_epi64(a, product(four, load(hash_keys.a + i)));
      b = _mm256_add_epi64(b, product(four, load(hash_keys.b + i)));
    }
    // Up to three words more; what lies behind them, and its keys, count as zero.
    const __m256i wanted =
        _mm256_cmpgt_epi64(_mm256_set1_epi64x(static_cast<long long>(words - i)), _mm256_set_epi64x(3, 2, 1, 0));
    const auto part = [&](const void* from) { return _mm256_maskload_epi64(static_cast<const long long*>(from), wanted); };
    if (i < words) {
      const __m256i rest = part(line + i * word_bytes);
      a = _mm256_add_epi64(a, product(rest, part(hash_keys.a + i)));
      b = _mm256_add_epi64(b, product(rest, part(hash_keys.b + i)));
    }
    const __m256i pairs = _mm256_add_epi64(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
    const __m128i folded = _mm_add_epi64(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256(pairs, 1));
    return {static_cast<std::uint64_t>(_mm_cvtsi128_si64(folded)), static_cast<std::uint64_t>(_mm_extract_epi64(folded, 1))};
  }
};

}  // namespace
