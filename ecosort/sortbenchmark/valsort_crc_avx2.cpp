// CRC-32 sum with PCLMULQDQ: 15 independent or short-chained multiplications per record.
#include <immintrin.h>

#include "sortbenchmark/valsort_crc_kernel.h"

namespace ecosort::sortbenchmark::crc {
namespace {

__m128i load(const std::byte* p) noexcept { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }

// Words 2 * pair and 2 * pair + 1.
template <std::size_t pair>
__m128i fold(const std::byte* record) noexcept {
  const __m128i words = load(record + 16 * pair);
  const __m128i constants = _mm_set_epi64x(static_cast<long long>(fold_constant(static_cast<int>(2 * pair + 1))),
                                           static_cast<long long>(fold_constant(static_cast<int>(2 * pair))));
  return _mm_xor_si128(_mm_clmulepi64_si128(words, constants, 0x00), _mm_clmulepi64_si128(words, constants, 0x11));
}

std::uint32_t crc_without_inversion(const std::byte* record) noexcept {
  const __m128i sum01 = _mm_xor_si128(fold<0>(record), fold<1>(record));
  const __m128i sum23 = _mm_xor_si128(fold<2>(record), fold<3>(record));
  const __m128i sum45 = _mm_xor_si128(fold<4>(record), fold<5>(record));
  const __m128i sum = _mm_xor_si128(_mm_xor_si128(sum01, sum23), sum45);
  // Degree < 64, in the upper half: the lower half is folded onto it; the tail, times x^32, belongs there as it is.
  const __m128i fold64 = _mm_cvtsi64_si128(static_cast<long long>(fold_constant(11)));
  const __m128i high = _mm_xor_si128(sum, _mm_clmulepi64_si128(sum, fold64, 0x00));
  const __m128i tail = _mm_loadu_si32(record + 96);
  const __m128i rest = _mm_xor_si128(_mm_srli_si128(high, 8), tail);
  // Barrett: quotient of the upper 32 powers (the lower 32 bits), times P.
  const __m128i barrett = _mm_set_epi64x(static_cast<long long>(polynomial_33), static_cast<long long>(barrett_factor));
  const __m128i low32 = _mm_cvtsi64_si128(0xffffffff);
  const __m128i quotient = _mm_clmulepi64_si128(_mm_and_si128(rest, low32), barrett, 0x00);
  const __m128i product = _mm_clmulepi64_si128(_mm_and_si128(quotient, low32), barrett, 0x10);
  return static_cast<std::uint32_t>(_mm_extract_epi32(_mm_xor_si128(rest, product), 1));
}

}  // namespace

std::uint64_t crc_sum_avx2(const std::byte* records, std::size_t count) noexcept {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += crc_without_inversion(records + 100 * i) ^ crc_of_zeros;
  return sum;
}

}  // namespace ecosort::sortbenchmark::crc
