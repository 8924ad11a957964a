// Masks of NEON as bits of a word, which its instructions do not offer. For 64-bit Arm alone.
//
// Each byte of a mask keeps one bit, another one in each of eight neighbours; three rounds that add neighbours put eight bytes
// together.
#pragma once

#include <arm_neon.h>

#include <cstdint>

namespace ecosort {

[[gnu::always_inline]] inline uint8x16_t own_bits(uint8x16_t mask) noexcept {
  return vandq_u8(mask, vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201)));
}

// Bit i: byte i of the masks, one behind the other, is set.
[[gnu::always_inline]] inline std::uint64_t bits_of(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d) noexcept {
  const uint8x16_t low = vpaddq_u8(own_bits(a), own_bits(b)), high = vpaddq_u8(own_bits(c), own_bits(d));
  const uint8x16_t all = vpaddq_u8(low, high);
  return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(all, all)), 0);
}
[[gnu::always_inline]] inline std::uint32_t bits_of(uint8x16_t a, uint8x16_t b) noexcept {
  const uint8x16_t all = vpaddq_u8(own_bits(a), own_bits(b));
  const uint8x8_t half = vpadd_u8(vget_low_u8(all), vget_high_u8(all));
  return vget_lane_u32(vreinterpret_u32_u8(vpadd_u8(half, half)), 0);
}

// Four bits for each byte: a quicker way to the first byte that is set than a bit for each.
[[gnu::always_inline]] inline std::uint64_t nibbles_of(uint8x16_t mask) noexcept {
  return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(mask), 4)), 0);
}

}  // namespace ecosort
