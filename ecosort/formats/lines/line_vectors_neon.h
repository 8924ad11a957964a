// The vectors of the line kernels (line_kernels_body.h) for NEON.
#pragma once

#include <arm_neon.h>

#include "base/neon_bits.h"
#include "formats/lines/line_kernels_body.h"
#include "hash/word_sums_neon.h"

namespace {

struct NeonVectors {
  static std::uint64_t matches(const char* at, char c) noexcept { return matches(load_64(at), c); }
  static std::uint64_t copy(char* to, const char* at, char c) noexcept {
    const uint8x16x4_t bytes = load_64(at);
    vst1q_u8_x4(reinterpret_cast<std::uint8_t*>(to), bytes);
    return matches(bytes, c);
  }
  static std::uint32_t copy_half(char* to, const char* at, char c) noexcept {
    const uint8x16x2_t bytes = vld1q_u8_x2(reinterpret_cast<const std::uint8_t*>(at));
    vst1q_u8_x2(reinterpret_cast<std::uint8_t*>(to), bytes);
    const uint8x16_t wanted = vdupq_n_u8(static_cast<std::uint8_t>(c));
    return ecosort::bits_of(vceqq_u8(bytes.val[0], wanted), vceqq_u8(bytes.val[1], wanted));
  }

  [[gnu::always_inline]] static LineSums sums(const char* line, std::size_t words) noexcept {
    WordSums sums;
    const HashKeys& keys = WordSums::keys();
    for (std::size_t i = 0; i + 4 <= words; i += 4) sums.add_four(line, i, keys);
    sums.add_last(line, words);
    const uint64x2_t both = vpaddq_u64(sums.a, sums.b);
    return {vgetq_lane_u64(both, 0), vgetq_lane_u64(both, 1)};
  }

  // The hashes of four lines, each a part of the loop over them, so that constants stay in registers.
  using Fours = LineHash;
  static void add_four(const ecosort::lines::LinePlace* lines, Fours& total) noexcept {
    for (std::size_t i = 0; i < 4; ++i) add_last_chunk<NeonVectors>(total, lines[i].begin, lines[i].size, 0);
  }
  static LineSums total_of(const Fours& total) noexcept { return {total.low, total.high}; }

 private:
  static uint8x16x4_t load_64(const char* at) noexcept { return vld1q_u8_x4(reinterpret_cast<const std::uint8_t*>(at)); }
  static std::uint64_t matches(const uint8x16x4_t& bytes, char c) noexcept {
    const uint8x16_t wanted = vdupq_n_u8(static_cast<std::uint8_t>(c));
    return ecosort::bits_of(vceqq_u8(bytes.val[0], wanted), vceqq_u8(bytes.val[1], wanted), vceqq_u8(bytes.val[2], wanted),
                            vceqq_u8(bytes.val[3], wanted));
  }
};

}  // namespace
