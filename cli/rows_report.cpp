#include "cli/rows_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/compression_options.h"

namespace ecosort::cli {

Json rows_stats_json(const RowWords& words, const lines::LinesReport& report, const engine::PhaseLog& log,
                     const ProcessUsage& usage, const lines::LinesJob& job, const std::string& backend) {
  Json json{{"schema", words.schema}, {words.rows, report.records}, {words.dropped, report.dropped}};
  json.update(work_json(report, log, usage, backend));
  json.update({{"merge_parts", report.merge_parts},
               {words.longest, report.longest_line},
               {"compression", compression_json(job, report)},
               {"threads", job.plan.threads},
               {"memory_limit_bytes", job.plan.memory_bytes + job.header_bytes + job.codecs.bytes()}});
  return json;
}

std::string appended_text(const engine::WorkReport& report) {
  return report.appended == 0 ? "" : fmt::format(", {} of them behind the others, unsorted", report.appended);
}

JobSummary rows_summary(const lines::LinesReport& report, std::uint64_t rows, const char* noun) {
  return {report.is_merge ? "merged" : "sorted", std::max(report.input_bytes, report.output_bytes),
          fmt::format("{} {}{}{}{}{}", rows, noun, rows == 1 ? "" : "s",
                      report.dropped == 0 ? "" : fmt::format(", {} of them dropped", report.dropped), appended_text(report),
                      packed_text(report.run_packing))};
}

}  // namespace ecosort::cli
