#include "formats/csv/csv_kernels.h"
#include "formats/csv/csv_kernels_body.h"
#include "formats/lines/line_vectors_neon.h"

namespace ecosort::csv {

const CsvKernelsOfLevel csv_kernels_neon = csv_kernels_over<NeonVectors, PlainBits>();

}  // namespace ecosort::csv
