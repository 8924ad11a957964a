// Says where the values of a plan come from, and what the profile predicts for it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "cli/command_line.h"
#include "cli/profile_choice.h"
#include "demsort_inplace/prepare/records.h"
#include "job/predict.h"

namespace ecosort::cli {

struct PlanValue {
  std::string_view option;
  std::string value;   // as the option takes it
  std::string source;  // "option", "profile" or "default"
};

[[nodiscard]] std::vector<PlanValue> values_of(const CommandLine& line, const job::PreparedRecords& resolved,
                                               const std::string& backend);
[[nodiscard]] std::vector<PlanValue> values_of(const CommandLine& line,
                                               const demsort_inplace::prepare::PreparedRecordsJob& prepared);

[[nodiscard]] std::string values_text(const std::vector<PlanValue>& values, const ProfileChoice& profile);
// Adds "values" and "profile" to an object.
void add_values(Json& json, const std::vector<PlanValue>& values, const ProfileChoice& profile);

[[nodiscard]] std::string forecast_text(const planner::MaybePrediction& forecast);
// Has the form of `ecosort-tune predict --json`; "absent" alone where there is no prediction.
[[nodiscard]] Json forecast_json(const planner::MaybePrediction& forecast);

}  // namespace ecosort::cli
