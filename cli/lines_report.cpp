#include "cli/lines_report.h"

#include "cli/rows_report.h"

namespace ecosort::cli {

Json lines_stats_json(const lines::LinesReport& report, const engine::PhaseLog& log, const ProcessUsage& usage,
                      const lines::LinesJob& job, const std::string& backend) {
  constexpr RowWords words{"ecosort.lines-stats/1", "lines", "lines_dropped", "longest_line_bytes"};
  Json json = rows_stats_json(words, report, log, usage, job, backend);
  json["lines_appended"] = report.appended;
  return json;
}

JobSummary summary_of(const lines::LinesReport& report) { return rows_summary(report, report.records, "line"); }

}  // namespace ecosort::cli
