#include "formats/lines/line_kernels.h"
#include "formats/lines/line_vectors_avx512.h"

namespace ecosort::lines {

const LineKernels line_kernels_avx512 = kernels_over<Avx512Vectors>();

}  // namespace ecosort::lines
