#include "hash/multiset_hash.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif
#include <fmt/format.h>

#include <charconv>

#include "hash/multiset_hash_kernel.h"
#include "hash/multiset_hash_variants.h"

namespace {

#if defined(__SSE2__)
struct Sse2Lanes {
  using T = __m128i;
  static constexpr std::size_t width = 2;

  static T load(const void* from) noexcept { return _mm_loadu_si128(static_cast<const __m128i*>(from)); }
  static T load_part(const void* from, std::size_t /*words: always 1*/) noexcept {
    return _mm_loadl_epi64(static_cast<const __m128i*>(from));
  }
  static T column(const std::byte* from, std::size_t stride) noexcept {
    return _mm_unpacklo_epi64(load_part(from, 1), load_part(from + stride, 1));
  }
  static T set(std::uint64_t value) noexcept { return _mm_set1_epi64x(static_cast<long long>(value)); }
  static T key(std::uint64_t value) noexcept { return set(value); }
  static T add(T x, T y) noexcept { return _mm_add_epi64(x, y); }
  static T exclusive_or(T x, T y) noexcept { return _mm_xor_si128(x, y); }
  static T add_product(T sum, T m, T key) noexcept {
    const T halves = _mm_add_epi32(m, key);
    return add(sum, _mm_mul_epu32(halves, _mm_srli_epi64(halves, 32)));
  }
  static T spread(T x) noexcept {
    const T high = _mm_mul_epu32(_mm_srli_epi64(x, 32), set(mix_high));
    return add(_mm_mul_epu32(x, set(mix_low)), _mm_shuffle_epi32(high, 0xb1));
  }
  static T transposed_sum(const T* rows) noexcept {
    return add(_mm_unpacklo_epi64(rows[0], rows[1]), _mm_unpackhi_epi64(rows[0], rows[1]));
  }
  static std::uint64_t total(T x) noexcept {
    alignas(16) std::uint64_t lanes[width];
    _mm_store_si128(reinterpret_cast<__m128i*>(lanes), x);
    return lanes[0] + lanes[1];
  }
};
using BaselineLanes = Sse2Lanes;
#else
using BaselineLanes = PlainLanes;
#endif

}  // namespace

namespace ecosort::hash {

MultisetHash hash_records_baseline(const std::byte* records, std::size_t record_count, std::uint32_t record_size) noexcept {
  const HashSums sums = hash_records_with<BaselineLanes>(records, record_count, record_size);
  return {sums.low, sums.high, record_count};
}

HashRecordsFunction hash_records_variant(CpuLevel level) noexcept {
#if defined(__x86_64__)
  if (level >= CpuLevel::avx2) return hash_records_avx2;
#elif defined(__aarch64__)
  if (level == CpuLevel::neon) return hash_records_neon;
#endif
  static_cast<void>(level);
  return hash_records_baseline;
}

void MultisetHash::add_records(const std::byte* records, std::size_t record_count, std::uint32_t record_size) {
  static const HashRecordsFunction variant = hash_records_variant(cpu_level());
  *this += variant(records, record_count, record_size);
}

std::string MultisetHash::to_hex() const { return fmt::format("{:016x}{:016x}", high, low); }

std::optional<MultisetHash> MultisetHash::from_hex(std::string_view digits, std::uint64_t count) {
  constexpr std::size_t half = 16;
  MultisetHash hash{.count = count};
  if (digits.size() != 2 * half) return std::nullopt;
  const char* const begin = digits.data();
  const auto high = std::from_chars(begin, begin + half, hash.high, 16);
  const auto low = std::from_chars(begin + half, begin + 2 * half, hash.low, 16);
  if (high.ptr != begin + half || low.ptr != begin + 2 * half) return std::nullopt;
  return hash;
}

}  // namespace ecosort::hash
