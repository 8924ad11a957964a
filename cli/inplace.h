// `ecosort inplace` and `plan inplace`.
#pragma once

#include <string>

#include "cli/command_line.h"
#include "cli/run_job.h"
#include "demsort_inplace/prepare/in_place.h"

namespace ecosort::cli {

// As people read it, and as a program does.
[[nodiscard]] std::string inplace_plan_text(const CommandLine& line, const inplace::PreparedInPlace& prepared);
[[nodiscard]] std::string inplace_plan_json(const CommandLine& line, const inplace::PreparedInPlace& prepared);

int plan_inplace(const Words& words);

}  // namespace ecosort::cli
