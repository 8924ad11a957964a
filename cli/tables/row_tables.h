// The tables of `ecosort csv` and `ecosort jsonl`.
#pragma once

#include "cli/option_table.h"

namespace ecosort::cli {

[[nodiscard]] std::vector<OptionRow> csv_options();
[[nodiscard]] std::vector<OptionRow> jsonl_options();
[[nodiscard]] CommandTable csv_table();
[[nodiscard]] CommandTable jsonl_table();

}  // namespace ecosort::cli
