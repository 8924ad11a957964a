// Reports a sort of rows, whatever their format.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "cli/report.h"
#include "ecosort/request.hpp"
#include "job/prepare_rows.h"

namespace ecosort::cli {

// Schema "ecosort.lines-stats/1", "ecosort.csv-stats/1" or "ecosort.jsonl-stats/1"; units are in the names.
[[nodiscard]] Json rows_stats_json(const Request& request, const engine::rows::LinesReport& report, const engine::PhaseLog& log,
                                   const ProcessUsage& usage, const engine::rows::LinesJob& job, const std::string& backend);

// Returns this for a summary: ", 12 of them behind the others, unsorted". Empty: all are merged.
[[nodiscard]] std::string appended_text(const engine::WorkReport& report);

// "sorted ... lines", "sorted ... rows".
[[nodiscard]] JobSummary rows_summary(const Request& request, const engine::rows::LinesReport& report);

// Reports what has no place in the order: lines that hold nothing, and values.
[[nodiscard]] std::vector<std::string> row_notices(const Request& request, const engine::rows::LinesReport& report);

}  // namespace ecosort::cli
