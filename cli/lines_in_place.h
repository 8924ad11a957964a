// The plan of `ecosort lines --inplace`, as people read it, and as a program does.
#pragma once

#include <string>

#include "base/json.h"
#include "demsort_inplace/prepare/rows.h"

namespace ecosort::cli {

[[nodiscard]] Json in_place_plan_json(const inplace::PreparedRows& prepared);
[[nodiscard]] std::string in_place_plan_text(const inplace::PreparedRows& prepared);

}  // namespace ecosort::cli
