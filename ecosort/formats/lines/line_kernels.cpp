#include "formats/lines/line_kernels.h"

#include "formats/lines/line_vectors_baseline.h"

namespace ecosort::lines {

const LineKernels line_kernels_baseline = kernels_over<BaselineVectors>();

const LineKernels& line_kernels_of(CpuLevel level) noexcept {
#if defined(__x86_64__)
  if (level >= CpuLevel::avx512) return line_kernels_avx512;
  if (level >= CpuLevel::avx2) return line_kernels_avx2;
#elif defined(__aarch64__)
  if (level == CpuLevel::neon) return line_kernels_neon;
#endif
  static_cast<void>(level);
  return line_kernels_baseline;
}

const LineKernels& line_kernels() {
  static const LineKernels& chosen = line_kernels_of(cpu_level());
  return chosen;
}

}  // namespace ecosort::lines
