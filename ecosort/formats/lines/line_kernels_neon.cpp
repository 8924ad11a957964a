#include "formats/lines/line_kernels.h"
#include "formats/lines/line_vectors_neon.h"

namespace ecosort::lines {

const LineKernels line_kernels_neon = kernels_over<NeonVectors>();

}  // namespace ecosort::lines
