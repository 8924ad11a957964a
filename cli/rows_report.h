// --stats reports this of a sort of rows, whatever their format.
#pragma once

#include <string>

#include "base/json.h"
#include "cli/report.h"
#include "job/prepare_rows.h"

namespace ecosort::cli {

// The words of the format for what was sorted.
struct RowWords {
  const char* schema;
  const char* rows;
  const char* dropped;
  const char* longest;
};

[[nodiscard]] Json rows_stats_json(const RowWords& words, const lines::LinesReport& report, const engine::PhaseLog& log,
                                   const ProcessUsage& usage, const lines::LinesJob& job, const std::string& backend);

// "sorted 1.0 GB, 1000 NOUNs": the noun with an s unless it is one.
// For a summary: ", 12 of them behind the others, unsorted". Empty: all are merged.
[[nodiscard]] std::string appended_text(const engine::WorkReport& report);

[[nodiscard]] JobSummary rows_summary(const lines::LinesReport& report, std::uint64_t rows, const char* noun);

}  // namespace ecosort::cli
