#include <immintrin.h>

#include "hash/multiset_hash_kernel.h"
#include "hash/multiset_hash_variants.h"

namespace {

struct Avx2Lanes {
  using T = __m256i;
  static constexpr std::size_t width = 4;

  static T load(const void* from) noexcept { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }
  static T load_part(const void* from, std::size_t words) noexcept {
    const T wanted = _mm256_cmpgt_epi64(_mm256_set1_epi64x(static_cast<long long>(words)), _mm256_set_epi64x(3, 2, 1, 0));
    return _mm256_maskload_epi64(static_cast<const long long*>(from), wanted);
  }
  // The words at `from`, `from` + stride and so on.
  static T column(const std::byte* from, std::size_t stride) noexcept {
    return _mm256_set_m128i(column_half(from + 2 * stride, stride), column_half(from, stride));
  }
  static T set(std::uint64_t value) noexcept { return _mm256_set1_epi64x(static_cast<long long>(value)); }
  static T key(std::uint64_t value) noexcept { return set(value); }
  static T add(T x, T y) noexcept { return _mm256_add_epi64(x, y); }
  static T exclusive_or(T x, T y) noexcept { return _mm256_xor_si256(x, y); }
  static T add_product(T sum, T m, T key) noexcept {
    const T halves = _mm256_add_epi32(m, key);
    return add(sum, _mm256_mul_epu32(halves, _mm256_srli_epi64(halves, 32)));
  }
  static T spread(T x) noexcept {
    const T high = _mm256_mul_epu32(_mm256_srli_epi64(x, 32), set(mix_high));
    return add(_mm256_mul_epu32(x, set(mix_low)), _mm256_shuffle_epi32(high, 0xb1));
  }
  static T transposed_sum(const T* rows) noexcept {
    const T s = add(_mm256_unpacklo_epi64(rows[0], rows[1]), _mm256_unpackhi_epi64(rows[0], rows[1]));
    const T t = add(_mm256_unpacklo_epi64(rows[2], rows[3]), _mm256_unpackhi_epi64(rows[2], rows[3]));
    return add(_mm256_permute2x128_si256(s, t, 0x20), _mm256_permute2x128_si256(s, t, 0x31));
  }
  static std::uint64_t total(T x) noexcept {
    alignas(32) std::uint64_t lanes[width];
    _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), x);
    return lanes[0] + lanes[1] + lanes[2] + lanes[3];
  }

 private:
  static __m128i column_half(const std::byte* from, std::size_t stride) noexcept {
    return _mm_unpacklo_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)),
                              _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from + stride)));
  }
};

}  // namespace

namespace ecosort::hash {

MultisetHash hash_records_avx2(const std::byte* records, std::size_t record_count, std::uint32_t record_size) noexcept {
  const HashSums sums = hash_records_with<Avx2Lanes>(records, record_count, record_size);
  return {sums.low, sums.high, record_count};
}

}  // namespace ecosort::hash
