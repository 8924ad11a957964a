#include "formats/lines/line_vectors_avx512.h"
//
#include "formats/csv/csv_bits_bmi2.h"
#include "formats/csv/csv_kernels.h"
#include "formats/csv/csv_kernels_body.h"

namespace ecosort::csv {

const CsvKernelsOfLevel csv_kernels_avx512 = csv_kernels_over<Avx512Vectors, Bmi2Bits>();

}  // namespace ecosort::csv
