// The tables of the commands that another program does, and of `manual`.
#pragma once

#include "cli/option_table.h"

namespace ecosort::cli {

[[nodiscard]] CommandTable power_table();
[[nodiscard]] CommandTable tune_table();
[[nodiscard]] CommandTable joulesort_table();
[[nodiscard]] CommandTable cluster_table();
[[nodiscard]] CommandTable queue_table();
[[nodiscard]] CommandTable serve_table();
[[nodiscard]] CommandTable manual_table();

}  // namespace ecosort::cli
