#include "cli/table_report.h"

#include <fmt/format.h>

#include "cli/rows_report.h"

namespace ecosort::cli {

namespace {

constexpr RowWords csv_words{"ecosort.csv-stats/1", "rows", "rows_dropped", "longest_row_bytes"};
constexpr RowWords jsonl_words{"ecosort.jsonl-stats/1", "rows", "rows_dropped", "longest_row_bytes"};

std::uint64_t rows_of(const lines::LinesReport& report) { return report.records - report.top_lines - report.blank_lines; }

}  // namespace

Json table_stats_json(const Request& request, const lines::LinesReport& report, const engine::PhaseLog& log,
                      const ProcessUsage& usage, const lines::LinesJob& job, const std::string& backend) {
  const bool is_csv = request.format() == Format::csv;
  Json json = rows_stats_json(is_csv ? csv_words : jsonl_words, report, log, usage, job, backend);
  json["rows"] = rows_of(report);
  if (!is_csv) json["blank_lines"] = report.blank_lines;
  Json keys = Json::array();
  for (std::size_t i = 0; i < job::values_of(request).keys.size(); ++i) {
    const rows::KeyCounts counts = i < report.key_counts.size() ? report.key_counts[i] : rows::KeyCounts{};
    keys.push_back({{"by", to_string(job::values_of(request).keys[i])},
                    {is_csv ? "empty_values" : "missing_values", counts.empty},
                    {"unparsable_values", counts.unparsable}});
  }
  json["keys"] = std::move(keys);
  return json;
}

JobSummary table_summary(const lines::LinesReport& report) { return rows_summary(report, rows_of(report), "row"); }

std::vector<std::string> null_notices(const Request& request, const lines::LinesReport& report) {
  std::vector<std::string> notices;
  if (report.blank_lines > 0) notices.push_back(fmt::format("blank lines are left out: there were {}", report.blank_lines));
  const char* const empty = request.format() == Format::csv ? "empty" : "missing or null";
  for (std::size_t i = 0; i < report.key_counts.size(); ++i) {
    const rows::KeyCounts& counts = report.key_counts[i];
    if (counts.empty + counts.unparsable == 0) continue;
    notices.push_back(fmt::format("--by {}: {} {} and {} unparsable values come {}{}", to_string(job::values_of(request).keys[i]),
                                  counts.empty, empty, counts.unparsable,
                                  job::values_of(request).nulls_first ? "in front of all others" : "behind all others",
                                  request.unique ? "; they count as equal for --unique" : ""));
  }
  return notices;
}

}  // namespace ecosort::cli
