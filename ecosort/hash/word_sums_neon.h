// The two NH sums of the words of a record or a line (multiset_hash_kernel.h), for NEON.
//
// Its multiplication takes the halves of four words from a register each, so the words are split into these; of the keys there is
// a table that is split already. Internal linkage, as in multiset_hash_kernel.h.
#pragma once

#include <arm_neon.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "base/opaque.h"
#include "hash/multiset_hash_kernel.h"

namespace {

// The lower and the upper halves of four words.
struct SplitWords {
  uint32x4_t low, high;
};

// The lower halves of four keys, then their upper halves, and so on.
constexpr HashKeys make_split_keys() {
  HashKeys split;
  for (const auto table : {&HashKeys::a, &HashKeys::b}) {
    for (std::size_t i = 0; i < chunk_words; i += 4) {
      const std::uint64_t* const four = hash_keys.*table + i;
      std::uint64_t* const to = split.*table + i;
      for (std::size_t half = 0; half < 2; ++half) {
        to[half] = (four[2 * half] & low_half) | four[2 * half + 1] << 32U;
        to[2 + half] = four[2 * half] >> 32U | four[2 * half + 1] >> 32U << 32U;
      }
    }
  }
  return split;
}
constexpr HashKeys split_keys = make_split_keys();

// Marks which of the last four words are behind those that are taken four at a time, by the number of words modulo four; then,
// for w = 2 and w = 3 words, which of the words 0, 1, w - 2, w - 1 are not among those before them.
struct LastWords {
  std::uint32_t wanted[4];
};
constexpr std::uint32_t is_wanted = ~std::uint32_t{0};
alignas(16) constexpr LastWords last_words[] = {
    {{0, 0, 0, 0}},
    {{0, 0, 0, is_wanted}},
    {{0, 0, is_wanted, is_wanted}},
    {{0, is_wanted, is_wanted, is_wanted}},
    {{is_wanted, is_wanted, 0, 0}},
    {{is_wanted, is_wanted, 0, is_wanted}},
};

inline SplitWords split_words(uint64x2_t x, uint64x2_t y) noexcept {
  const uint32x4_t a = vreinterpretq_u32_u64(x), b = vreinterpretq_u32_u64(y);
  return {vuzp1q_u32(a, b), vuzp2q_u32(a, b)};
}

struct WordSums {
  // Keys are found by their address: the compiler would take two instructions to find each of them as a constant.
  static const HashKeys& keys() noexcept { return *ecosort::opaque(&split_keys); }

  // Words [i, i + 4) of some, where i is a multiple of four.
  void add_four(const void* words, std::size_t i, const HashKeys& keys) noexcept {
    const SplitWords four = load(words, i, i + 2);
    a = add_product(a, four, load_split(keys.a + i));
    b = add_product(b, four, load_split(keys.b + i));
  }

  // The last words of `count`, those that are no multiple of four. How many they are may follow no pattern, so that a loop would
  // be mispredicted: the last four are taken once more, and those that were there before count as zero.
  void add_last(const void* words, std::size_t count) noexcept {
    if (count < 2) [[unlikely]]
      return add_one(words);
    const bool are_few = count < 4;
    const std::size_t first = are_few ? 0 : count - 4, second = count - 2;
    const uint32x4_t wanted = vld1q_u32(last_words[are_few ? count + 2 : count % 4].wanted);
    const SplitWords four = load(words, first, second);
    a = add_product(a, four, load(hash_keys.a, first, second), wanted);
    b = add_product(b, four, load(hash_keys.b, first, second), wanted);
  }

  // Each is the sum of its two lanes.
  uint64x2_t a = vdupq_n_u64(0), b = vdupq_n_u64(0);

 private:
  // A record of more than 1 KiB may end with a chunk of one word.
  void add_one(const void* word) noexcept {
    const std::uint64_t m = PlainLanes::load(word);
    a = vsetq_lane_u64(vgetq_lane_u64(a, 0) + PlainLanes::product_of_halves(m, hash_keys.a[0]), a, 0);
    b = vsetq_lane_u64(vgetq_lane_u64(b, 0) + PlainLanes::product_of_halves(m, hash_keys.b[0]), b, 0);
  }
  // Two words from word `first` on, and two from word `second` on.
  static SplitWords load(const void* from, std::size_t first, std::size_t second) noexcept {
    const auto* const at = static_cast<const std::uint8_t*>(from);
    return split_words(vreinterpretq_u64_u8(vld1q_u8(at + first * word_bytes)),
                       vreinterpretq_u64_u8(vld1q_u8(at + second * word_bytes)));
  }
  static SplitWords load_split(const std::uint64_t* keys) noexcept {
    return {vreinterpretq_u32_u64(vld1q_u64(keys)), vreinterpretq_u32_u64(vld1q_u64(keys + 2))};
  }
  static uint64x2_t add_product(uint64x2_t sum, SplitWords words, SplitWords keys) noexcept {
    return add_product(sum, words, keys, vdupq_n_u32(is_wanted));
  }
  static uint64x2_t add_product(uint64x2_t sum, SplitWords words, SplitWords keys, uint32x4_t wanted) noexcept {
    const uint32x4_t low = vandq_u32(vaddq_u32(words.low, keys.low), wanted), high = vaddq_u32(words.high, keys.high);
    return vmlal_high_u32(vmlal_u32(sum, vget_low_u32(low), vget_low_u32(high)), low, high);
  }
};

}  // namespace
