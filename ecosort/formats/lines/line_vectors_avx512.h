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

struct PlacesOfBytes {
  constexpr PlacesOfBytes() {
    for (unsigned i = 0; i < 64; ++i) bytes[i] = static_cast<unsigned char>(i);
  }
  unsigned char bytes[64] = {};
};

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
  static void write_offsets(std::uint64_t matches, std::size_t at, std::uint32_t* offsets, const std::uint32_t* end) noexcept {
    alignas(64) static constexpr PlacesOfBytes places;
    __m512i found = _mm512_maskz_compress_epi8(matches, _mm512_load_si512(places.bytes));
    const __m512i begin = _mm512_set1_epi32(static_cast<int>(at));
    do {
      _mm512_storeu_si512(offsets, _mm512_add_epi32(begin, _mm512_cvtepu8_epi32(_mm512_castsi512_si128(found))));
      found = _mm512_alignr_epi32(found, found, 4);
      offsets += 16;
    } while (offsets < end);
  }
  static __m512i product(__m512i words, const std::uint64_t* keys, __mmask8 wanted) noexcept {
    const __m512i sum = _mm512_add_epi32(words, _mm512_loadu_si512(keys));
    return _mm512_maskz_mul_epu32(wanted, sum, _mm512_srli_epi64(sum, 32));
  }
  // 16 words, as most lines have at most, without a branch; those that the line lacks count as zero. Sum a is in the low half.
  static __m128i both_sums(const char* line, std::size_t words) noexcept {
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
    return folded(_mm512_add_epi64(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b)));
  }
  static LineSums sums(const char* line, std::size_t words) noexcept { return to_sums(both_sums(line, words)); }

  // The hashes of four lines at a time, each of 2 to 128 words, are finished together.
  using Fours = __m512i;
  static void add_four(const ecosort::lines::LinePlace* lines, Fours& total) noexcept {
    const __m512i four = _mm512_inserti64x4(_mm512_castsi256_si512(two_lines(lines)), two_lines(lines + 2), 1);
    const __m512i places = _mm512_loadu_si512(lines), sizes = _mm512_unpackhi_epi64(places, places);
    __m512i hash = _mm512_add_epi64(four, _mm512_mullo_epi64(sizes, in_turn(size_a, size_b)));
    hash = _mm512_mullo_epi64(_mm512_xor_si512(hash, _mm512_srli_epi64(hash, 32)), in_turn(finish_factor, finish_factor));
    total = _mm512_add_epi64(total, _mm512_xor_si512(hash, _mm512_srli_epi64(hash, 29)));
  }
  static LineSums total_of(const Fours& total) noexcept { return to_sums(folded(total)); }

 private:
  static_assert(sizeof(ecosort::lines::LinePlace) == 16 && offsetof(ecosort::lines::LinePlace, size) == 8);

  // The sums of its even and of its odd words.
  static __m128i folded(__m512i words) noexcept {
    const __m256i halves = _mm256_add_epi64(_mm512_castsi512_si256(words), _mm512_extracti64x4_epi64(words, 1));
    return _mm_add_epi64(_mm256_castsi256_si128(halves), _mm256_extracti128_si256(halves, 1));
  }
  static __m512i in_turn(std::uint64_t even, std::uint64_t odd) noexcept {
    const auto x = static_cast<long long>(even), y = static_cast<long long>(odd);
    return _mm512_set_epi64(y, x, y, x, y, x, y, x);
  }
  // The sums of a line, with those of its last eight bytes.
  static __m128i all_sums(const ecosort::lines::LinePlace& line) noexcept {
    const __m128i last = _mm_set1_epi64x(static_cast<long long>(PlainLanes::load(line.begin + line.size - word_bytes)));
    const __m128i tail = _mm_add_epi32(last, _mm_loadu_si128(reinterpret_cast<const __m128i*>(&hash_keys.tail_a)));
    return _mm_add_epi64(both_sums(line.begin, line.size / word_bytes), _mm_mul_epu32(tail, _mm_srli_epi64(tail, 32)));
  }
  static __m256i two_lines(const ecosort::lines::LinePlace* lines) noexcept {
    return _mm256_inserti128_si256(_mm256_castsi128_si256(all_sums(lines[0])), all_sums(lines[1]), 1);
  }
  static LineSums to_sums(__m128i both) noexcept {
    return {static_cast<std::uint64_t>(_mm_cvtsi128_si64(both)), static_cast<std::uint64_t>(_mm_extract_epi64(both, 1))};
  }
};

}  // namespace
