// The tables of the commands that sort and merge records, and those of their options that others take, too.
#pragma once

#include "cli/option_table.h"

namespace ecosort::cli {

[[nodiscard]] OptionRow progress_option();
[[nodiscard]] OptionRow space_option();
[[nodiscard]] OptionRow as_is_option();
// Of every sort that can be resumed.
constexpr std::string_view temp_conflict =
    "--resumable keeps its runs beside the output, in OUTPUT.ecosort; leave --temp out, or name an output there";
[[nodiscard]] ConflictRow goal_conflict();
[[nodiscard]] std::vector<OptionRow> sort_options();
// Those of `names` from the options of sort, in their order there.
[[nodiscard]] std::vector<OptionRow> chosen(const std::vector<std::string_view>& names);

[[nodiscard]] CommandTable sort_table();
[[nodiscard]] CommandTable inplace_table();
[[nodiscard]] CommandTable merge_table();
[[nodiscard]] CommandTable resume_table();

}  // namespace ecosort::cli
