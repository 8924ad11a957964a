// The tables of the commands that work on a range of a file: `sample` and `partition` (cli/option_table.h).
#pragma once

#include "cli/option_table.h"

namespace ecosort::cli {

[[nodiscard]] CommandTable sample_table();
[[nodiscard]] CommandTable partition_table();

}  // namespace ecosort::cli
