// The table of `ecosort plan`; those of `ecosort plan WHAT` are plan_tables() (cli/option_table.h).
#pragma once

#include "cli/option_table.h"

namespace ecosort::cli {

[[nodiscard]] CommandTable plan_table();

}  // namespace ecosort::cli
