#include "cli/rows_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/compression_options.h"

namespace ecosort::cli {

nlohmann::ordered_json rows_stats_json(const RowWords& words, const lines::LinesReport& report, const engine::PhaseLog& log,
                                       const ProcessUsage& usage, const lines::LinesJob& job, const std::string& backend) {
  return {{"schema", words.schema},
          {words.rows, report.records},
          {words.dropped, report.dropped},
          {"input_bytes", report.input_bytes},
          {"output_bytes", report.output_bytes},
          {"bytes_read", report.traffic.bytes_read},
          {"bytes_written", report.traffic.bytes_written},
          {"requests", report.traffic.requests},
          {"runs", report.runs},
          {"intermediate_merges", report.merges},
          {"merge_parts", report.merge_parts},
          {words.longest, report.longest_line},
          {"phases", phases_json(log)},
          {"wall_s", usage.wall_s},
          {"cpu_user_s", usage.cpu_user_s},
          {"cpu_system_s", usage.cpu_system_s},
          {"io_idle_s", static_cast<double>(report.traffic.idle.count()) * 1e-9},
          {"peak_rss_bytes", usage.peak_rss_bytes},
          {"peak_counted_memory_bytes", report.peak_memory_bytes},
          {"peak_temp_bytes", report.peak_temp_bytes},
          {"hash", report.hash.to_hex()},
          {"compression", compression_json(job, report)},
          {"resumed", resumed_json(report.resumed)},
          {"io_backend", backend},
          {"threads", job.plan.threads},
          {"memory_limit_bytes", job.plan.memory_bytes + job.header_bytes + job.codecs.bytes()},
          {"version", ECOSORT_VERSION}};
}

JobSummary rows_summary(const lines::LinesReport& report, std::uint64_t rows, const char* noun) {
  return {report.is_merge ? "merged" : "sorted", std::max(report.input_bytes, report.output_bytes),
          fmt::format("{} {}{}", rows, noun, rows == 1 ? "" : "s")};
}

}  // namespace ecosort::cli
