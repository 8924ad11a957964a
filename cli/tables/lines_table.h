// The table of `ecosort lines`, whose options are those of GNU sort and ours.
#pragma once

#include "cli/option_table.h"

namespace ecosort::cli {

[[nodiscard]] std::vector<OptionRow> lines_options();
[[nodiscard]] CommandTable lines_table();

}  // namespace ecosort::cli
