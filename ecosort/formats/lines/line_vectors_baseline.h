// The vectors of the line kernels (line_kernels_body.h) that every processor has.
#pragma once

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "formats/lines/line_kernels_body.h"

namespace {

#if defined(__SSE2__)
struct BaselineVectors {
  static __m128i load(const char* from) noexcept { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)); }
  static std::uint64_t matches(__m128i bytes, char c) noexcept {
    return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(c))));
  }
  static std::uint64_t matches(const char* at, char c) noexcept {
    std::uint64_t matching = 0;
    for (unsigned i = 0; i < 64; i += 16) matching |= matches(load(at + i), c) << i;
    return matching;
  }
  static std::uint32_t copy_half(char* to, const char* at, char c) noexcept {
    const __m128i low = load(at), high = load(at + 16);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), low);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 16), high);
    return static_cast<std::uint32_t>(matches(low, c) | matches(high, c) << 16U);
  }
  static std::uint64_t copy(char* to, const char* at, char c) noexcept {
    return copy_half(to, at, c) | std::uint64_t{copy_half(to + 32, at + 32, c)} << 32U;
  }
  static __m128i product(__m128i words, const std::uint64_t* keys) noexcept {
    const __m128i sum = _mm_add_epi32(words, _mm_load_si128(reinterpret_cast<const __m128i*>(keys)));
    return _mm_mul_epu32(sum, _mm_srli_epi64(sum, 32));
  }
  static LineSums sums(const char* line, std::size_t words) noexcept {
    __m128i a = _mm_setzero_si128(), b = a;
    std::size_t i = 0;
    for (; i + 2 <= words; i += 2) {
      const __m128i two = load(line + i * word_bytes);
      a = _mm_add_epi64(a, product(two, hash_keys.a + i));
      b = _mm_add_epi64(b, product(two, hash_keys.b + i));
    }
    alignas(16) std::uint64_t folded[2];
    _mm_store_si128(reinterpret_cast<__m128i*>(folded), _mm_add_epi64(_mm_unpacklo_epi64(a, b), _mm_unpackhi_epi64(a, b)));
    LineSums sums{folded[0], folded[1]};
    if (i < words) add_word(sums, PlainLanes::load(line + i * word_bytes), hash_keys.a[i], hash_keys.b[i]);
    return sums;
  }
};
#else
// Eight bytes in a word at a time.
struct BaselineVectors {
  static std::uint64_t matches8(const char* at, char c) noexcept {
    constexpr std::uint64_t ones = 0x0101010101010101, low_bits = 0x7f7f7f7f7f7f7f7f;
    const std::uint64_t bytes = PlainLanes::load(at) ^ ones * static_cast<unsigned char>(c);
    const std::uint64_t zeros = ~(((bytes & low_bits) + low_bits) | bytes | low_bits);  // the upper bit of each
    return (zeros >> 7U) * 0x0102040810204080U >> 56U;
  }
  static std::uint64_t matches(const char* at, char c) noexcept {
    std::uint64_t matching = 0;
    for (unsigned i = 0; i < 64; i += 8) matching |= matches8(at + i, c) << i;
    return matching;
  }
  static std::uint32_t copy_half(char* to, const char* at, char c) noexcept {
    std::uint64_t matching = 0;
    for (unsigned i = 0; i < 32; i += 8) matching |= matches8(at + i, c) << i;
    std::memcpy(to, at, 32);
    return static_cast<std::uint32_t>(matching);
  }
  static std::uint64_t copy(char* to, const char* at, char c) noexcept {
    const std::uint64_t matching = matches(at, c);
    std::memcpy(to, at, 64);
    return matching;
  }
  static LineSums sums(const char* line, std::size_t words) noexcept {
    LineSums sums;
    for (std::size_t i = 0; i < words; ++i)
      add_word(sums, PlainLanes::load(line + i * word_bytes), hash_keys.a[i], hash_keys.b[i]);
    return sums;
  }
};
#endif

}  // namespace
