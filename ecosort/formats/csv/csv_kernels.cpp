#include "formats/csv/csv_kernels.h"

#include "formats/csv/csv_kernels_body.h"
#include "formats/lines/line_vectors_baseline.h"

namespace ecosort::csv {

const CsvKernelsOfLevel csv_kernels_baseline = csv_kernels_over<BaselineVectors, PlainBits>();

const CsvKernelsOfLevel& csv_kernels_of(CpuLevel level) noexcept {
#if defined(__x86_64__)
  if (level >= CpuLevel::avx512) return csv_kernels_avx512;
  if (level >= CpuLevel::avx2) return csv_kernels_avx2;
#elif defined(__aarch64__)
  if (level == CpuLevel::neon) return csv_kernels_neon;
#endif
  static_cast<void>(level);
  return csv_kernels_baseline;
}

const CsvKernels& csv_kernels(Dialect dialect) {
  static const CsvKernelsOfLevel& chosen = csv_kernels_of(cpu_level());
  return dialect.is_simple() ? chosen.simple : chosen.any;
}

}  // namespace ecosort::csv
