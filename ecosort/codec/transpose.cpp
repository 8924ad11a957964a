#include "codec/transpose.h"

#if defined(__SSE2__)
#include "codec/transpose_sse2.h"
#endif

#include "codec/transpose_kernel.h"
#include "codec/transpose_variants.h"

namespace ecosort::codec {

void transpose_plainly(const std::byte* in, std::size_t rows, std::size_t columns, std::byte* out) noexcept {
  transpose_rows_plainly(in, 0, rows, columns, out);
}

void transpose_baseline(const std::byte* in, std::size_t rows, std::size_t columns, std::byte* out) noexcept {
#if defined(__SSE2__)
  transpose_with<Sse2Bytes>(in, rows, columns, out);
#else
  transpose_plainly(in, rows, columns, out);
#endif
}

TransposeFunction transpose_variant(CpuLevel level) noexcept {
#if defined(__x86_64__)
  if (level >= CpuLevel::avx2) return transpose_avx2;
#elif defined(__aarch64__)
  if (level == CpuLevel::neon) return transpose_neon;
#endif
  static_cast<void>(level);
  return transpose_baseline;
}

void transpose(const std::byte* in, std::size_t rows, std::size_t columns, std::byte* out) {
  static const TransposeFunction variant = transpose_variant(cpu_level());
  variant(in, rows, columns, out);
}

}  // namespace ecosort::codec
