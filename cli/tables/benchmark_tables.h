// The tables of the commands of the Sort Benchmark: `gen` and `check`.
#pragma once

#include "cli/option_table.h"

namespace ecosort::cli {

[[nodiscard]] CommandTable gen_table();
[[nodiscard]] CommandTable check_table();

}  // namespace ecosort::cli
