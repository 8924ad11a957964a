#include "codec/transpose.h"

#if defined(__SSE2__)
#include "codec/transpose_sse2.h"
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

#include "codec/transpose_kernel.h"
#include "codec/transpose_variants.h"

namespace ecosort::codec {
namespace {

#if defined(__SSE2__)
using BaselineBytes = Sse2Bytes;
#elif defined(__ARM_NEON)
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
using BaselineBytes = NeonBytes;
#endif

}  // namespace

void transpose_plainly(const std::byte* in, std::size_t rows, std::size_t columns, std::byte* out) noexcept {
  transpose_rows_plainly(in, 0, rows, columns, out);
}

void transpose_baseline(const std::byte* in, std::size_t rows, std::size_t columns, std::byte* out) noexcept {
#if defined(__SSE2__) || defined(__ARM_NEON)
  transpose_with<BaselineBytes>(in, rows, columns, out);
#else
  transpose_plainly(in, rows, columns, out);
#endif
}

TransposeFunction transpose_variant(CpuLevel level) noexcept {
#if defined(__x86_64__)
  if (level >= CpuLevel::avx2) return transpose_avx2;
#endif
  static_cast<void>(level);
  return transpose_baseline;
}

void transpose(const std::byte* in, std::size_t rows, std::size_t columns, std::byte* out) {
  static const TransposeFunction variant = transpose_variant(cpu_level());
  variant(in, rows, columns, out);
}

}  // namespace ecosort::codec
