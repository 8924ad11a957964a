#include <arm_neon.h>

#include <cstdint>

#include "codec/transpose_kernel.h"
#include "codec/transpose_variants.h"

namespace ecosort::codec {
namespace {

struct NeonBytes {
  using T = uint8x16_t;
  using Half = NeonBytes;
  static constexpr std::size_t lanes = 1;

  static T load(const std::byte* from, std::size_t /*apart*/) noexcept {
    return vld1q_u8(reinterpret_cast<const std::uint8_t*>(from));
  }
  static T interleave_low(T x, T y) noexcept { return vzip1q_u8(x, y); }
  static T interleave_high(T x, T y) noexcept { return vzip2q_u8(x, y); }
  static void store(std::byte* to, T x) noexcept { vst1q_u8(reinterpret_cast<std::uint8_t*>(to), x); }
};

}  // namespace

void transpose_neon(const std::byte* in, std::size_t rows, std::size_t columns, std::byte* out) noexcept {
  transpose_with<NeonBytes>(in, rows, columns, out);
}

}  // namespace ecosort::codec
