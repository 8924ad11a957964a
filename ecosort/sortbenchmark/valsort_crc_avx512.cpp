// CRC-32 sum with VPCLMULQDQ: four records at a time, four multiplications each for 12.5 words, and three for the reduction of
// all four together.
#include <immintrin.h>

#include "sortbenchmark/valsort_crc_kernel.h"

#ifndef __clang__
// GCC 12 takes the deliberately undefined registers of its own intrinsics for uses of uninitialised variables (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

namespace ecosort::sortbenchmark::crc {
namespace {

constexpr __mmask16 last_36_bytes = 0x1ff;  // 9 words of 32 bits

struct Constants {
  __m512i first64, last36;           // fold constants of words 0-7 and 8-12
  __m512i fold64, barrett, product;  // in the lower half of each 128-bit lane
};

__attribute__((always_inline)) inline Constants constants() noexcept {
  const auto set8 = [](std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d, std::uint64_t e, std::uint64_t f,
                       std::uint64_t g, std::uint64_t h) __attribute__((always_inline)) {
    return _mm512_set_epi64(static_cast<long long>(h), static_cast<long long>(g), static_cast<long long>(f),
                            static_cast<long long>(e), static_cast<long long>(d), static_cast<long long>(c),
                            static_cast<long long>(b), static_cast<long long>(a));
  };
  return {
      .first64 = set8(fold_constant(0), fold_constant(1), fold_constant(2), fold_constant(3), fold_constant(4), fold_constant(5),
                      fold_constant(6), fold_constant(7)),
      .last36 = set8(fold_constant(8), fold_constant(9), fold_constant(10), fold_constant(11), fold_constant(12), 0, 0, 0),
      .fold64 = _mm512_set1_epi64(static_cast<long long>(fold_constant(11))),
      .barrett = _mm512_set1_epi64(static_cast<long long>(barrett_factor)),
      .product = _mm512_set1_epi64(static_cast<long long>(polynomial_33)),
  };
}

__attribute__((always_inline)) inline __m512i xor3(__m512i a, __m512i b, __m512i c) noexcept {
  return _mm512_ternarylogic_epi64(a, b, c, 0x96);
}

// Four lanes of 128 bits whose sum (XOR) is congruent to the record.
__attribute__((always_inline)) inline __m512i fold(const std::byte* record, const Constants& c) noexcept {
  const __m512i a = _mm512_loadu_si512(record);
  const __m512i b = _mm512_maskz_loadu_epi32(last_36_bytes, record + 64);
  const __m512i a_even = _mm512_clmulepi64_epi128(a, c.first64, 0x00), a_odd = _mm512_clmulepi64_epi128(a, c.first64, 0x11);
  const __m512i b_even = _mm512_clmulepi64_epi128(b, c.last36, 0x00), b_odd = _mm512_clmulepi64_epi128(b, c.last36, 0x11);
  return xor3(_mm512_xor_si512(a_even, a_odd), b_even, b_odd);
}

// Lane i of the result is the sum of the four lanes of record i.
__attribute__((always_inline)) inline __m512i sum_lanes(__m512i r0, __m512i r1, __m512i r2, __m512i r3) noexcept {
  const __m512i r01 = _mm512_xor_si512(_mm512_shuffle_i64x2(r0, r1, 0x44), _mm512_shuffle_i64x2(r0, r1, 0xee));
  const __m512i r23 = _mm512_xor_si512(_mm512_shuffle_i64x2(r2, r3, 0x44), _mm512_shuffle_i64x2(r2, r3, 0xee));
  return _mm512_xor_si512(_mm512_shuffle_i64x2(r01, r23, 0x88), _mm512_shuffle_i64x2(r01, r23, 0xdd));
}

// The CRCs, without inversion, of four sums; each in the lower half of its lane, the upper halves are zero.
__attribute__((always_inline)) inline __m512i reduce(__m512i sum, const Constants& c) noexcept {
  const __m512i low32 = _mm512_set1_epi64(0xffffffff);
  const __m512i rest = _mm512_bsrli_epi128(_mm512_xor_si512(sum, _mm512_clmulepi64_epi128(sum, c.fold64, 0x00)), 8);
  const __m512i quotient = _mm512_clmulepi64_epi128(_mm512_and_si512(rest, low32), c.barrett, 0x00);
  const __m512i product = _mm512_clmulepi64_epi128(_mm512_and_si512(quotient, low32), c.product, 0x00);
  return _mm512_maskz_srli_epi64(0x55, _mm512_xor_si512(rest, product), 32);
}

__attribute__((always_inline)) inline __m512i inverted(__m512i crcs) noexcept {
  return _mm512_xor_si512(crcs, _mm512_maskz_set1_epi64(0x55, crc_of_zeros));
}

}  // namespace

std::uint64_t crc_sum_avx512(const std::byte* records, std::size_t count) noexcept {
  const Constants c = constants();
  __m512i sums = _mm512_setzero_si512();
  const std::byte* record = records;
  for (std::size_t i = 0; i + 4 <= count; i += 4, record += 400) {
    const __m512i folded = sum_lanes(fold(record, c), fold(record + 100, c), fold(record + 200, c), fold(record + 300, c));
    sums = _mm512_add_epi64(sums, inverted(reduce(folded, c)));
  }
  std::uint64_t sum = static_cast<std::uint64_t>(_mm512_reduce_add_epi64(sums));
  for (std::size_t i = count / 4 * 4; i < count; ++i, record += 100) {
    const __m512i zero = _mm512_setzero_si512();
    const __m512i crc = reduce(sum_lanes(fold(record, c), zero, zero, zero), c);
    sum += static_cast<std::uint32_t>(_mm_cvtsi128_si32(_mm512_castsi512_si128(crc))) ^ crc_of_zeros;
  }
  return sum;
}

}  // namespace ecosort::sortbenchmark::crc
