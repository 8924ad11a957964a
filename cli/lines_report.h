// Reports a sort of lines.
#pragma once

#include <string>

#include "base/json.h"
#include "cli/report.h"
#include "job/prepare_rows.h"

namespace ecosort::cli {

// schema "ecosort.lines-stats/1"; units are in the names.
[[nodiscard]] Json lines_stats_json(const lines::LinesReport& report, const engine::PhaseLog& log, const ProcessUsage& usage,
                                    const lines::LinesJob& job, const std::string& backend);

// "sorted ... lines".
[[nodiscard]] JobSummary summary_of(const lines::LinesReport& report);

}  // namespace ecosort::cli
