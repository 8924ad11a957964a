#include "formats/lines/line_kernels.h"
#include "formats/lines/line_vectors_avx2.h"

namespace ecosort::lines {

const LineKernels line_kernels_avx2 = kernels_over<Avx2Vectors>();

}  // namespace ecosort::lines
