// Reports a sort of CSV or of JSON lines.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "cli/report.h"
#include "ecosort/request.hpp"
#include "job/prepare_rows.h"

namespace ecosort::cli {

// Schema "ecosort.csv-stats/1" or "ecosort.jsonl-stats/1"; units are in the names.
[[nodiscard]] Json table_stats_json(const Request& request, const lines::LinesReport& report, const engine::PhaseLog& log,
                                    const ProcessUsage& usage, const lines::LinesJob& job, const std::string& backend);

// "sorted ... rows".
[[nodiscard]] JobSummary table_summary(const lines::LinesReport& report);

// Reports what has no place in the order: lines that hold nothing, and values.
[[nodiscard]] std::vector<std::string> null_notices(const Request& request, const lines::LinesReport& report);

}  // namespace ecosort::cli
