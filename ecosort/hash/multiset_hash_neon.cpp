#include <arm_neon.h>

#include "hash/multiset_hash_kernel.h"
#include "hash/multiset_hash_variants.h"
#include "hash/word_sums_neon.h"

namespace {

// Four lanes in two registers: the halves of four words, split, fill a register each.
struct NeonLanes {
  struct T {
    uint64x2_t low, high;  // lanes 0 and 1, 2 and 3
  };
  static constexpr std::size_t width = 4;

  static SplitWords column(const std::byte* from, std::size_t stride) noexcept {
    return split_words(column_half(from, stride), column_half(from + 2 * stride, stride));
  }
  struct Columns {
    SplitWords first, second;
  };
  static Columns columns_of_two(const std::byte* records) noexcept {
    const auto* const words = reinterpret_cast<const std::uint64_t*>(records);
    const uint64x2x2_t low = vld2q_u64(words), high = vld2q_u64(words + width);
    return {split_words(low.val[0], high.val[0]), split_words(low.val[1], high.val[1])};
  }
  static SplitWords key(std::uint64_t value) noexcept {
    return {vdupq_n_u32(static_cast<std::uint32_t>(value)), vdupq_n_u32(static_cast<std::uint32_t>(value >> 32U))};
  }
  static T set(std::uint64_t value) noexcept { return {vdupq_n_u64(value), vdupq_n_u64(value)}; }
  static T add(T x, T y) noexcept { return {vaddq_u64(x.low, y.low), vaddq_u64(x.high, y.high)}; }
  static T exclusive_or(T x, T y) noexcept { return {veorq_u64(x.low, y.low), veorq_u64(x.high, y.high)}; }
  static T add_product(T sum, SplitWords m, SplitWords key) noexcept {
    const uint32x4_t low = vaddq_u32(m.low, key.low), high = vaddq_u32(m.high, key.high);
    return {vmlal_u32(sum.low, vget_low_u32(low), vget_low_u32(high)), vmlal_high_u32(sum.high, low, high)};
  }
  static T spread(T x) noexcept {
    const SplitWords halves = split_words(x.low, x.high);
    const uint32x4_t factors = mix_factors();
    const uint64x2_t low = vmull_laneq_u32(vget_low_u32(halves.high), factors, 1);
    const uint64x2_t high = vmull_high_laneq_u32(halves.high, factors, 1);
    return {vmlal_laneq_u32(turned(low), vget_low_u32(halves.low), factors, 0),
            vmlal_high_laneq_u32(turned(high), halves.low, factors, 0)};
  }
  static WordSums chunk_sums(const std::byte* chunk, std::size_t words) noexcept {
    WordSums sums;
    const HashKeys& keys = WordSums::keys();
#pragma GCC unroll 4
    for (std::size_t i = 0; i + 4 <= words; i += 4) sums.add_four(chunk, i, keys);
    if (words % 4 != 0) sums.add_last(chunk, words);
    return sums;
  }
  static T transposed_sum(const uint64x2_t* rows) noexcept {
    return {vpaddq_u64(rows[0], rows[1]), vpaddq_u64(rows[2], rows[3])};
  }
  static std::uint64_t total(T x) noexcept { return vaddvq_u64(vaddq_u64(x.low, x.high)); }

 private:
  static uint64x2_t column_half(const std::byte* from, std::size_t stride) noexcept {
    return vcombine_u64(vld1_u64(reinterpret_cast<const std::uint64_t*>(from)),
                        vld1_u64(reinterpret_cast<const std::uint64_t*>(from + stride)));
  }
  // In one register: the compiler, if it knew them, would load each as a constant of its own, by two instructions and each time.
  static uint32x4_t mix_factors() noexcept {
    uint32x4_t factors = vreinterpretq_u32_u64(vdupq_n_u64(mix_low | mix_high << 32U));
    __asm__("" : "+w"(factors));
    return factors;
  }
  static uint64x2_t turned(uint64x2_t x) noexcept { return vreinterpretq_u64_u32(vrev64q_u32(vreinterpretq_u32_u64(x))); }
};

}  // namespace

namespace ecosort::hash {

MultisetHash hash_records_neon(const std::byte* records, std::size_t record_count, std::uint32_t record_size) noexcept {
  const HashSums sums = hash_records_with<NeonLanes>(records, record_count, record_size);
  return {sums.low, sums.high, record_count};
}

}  // namespace ecosort::hash
