// `ecosort plan lines` prints bounds, because lengths of lines show only when they are read.
#pragma once

#include <string>

#include "job/prepare_rows.h"

namespace ecosort::cli {

// The bounds for a job whose inputs hold `input_bytes` of lines; 0: no one knows yet, and only what does not depend on it is
// said.
[[nodiscard]] std::string lines_bounds_text(const lines::LinesJob& job, std::uint64_t input_bytes);

}  // namespace ecosort::cli
