// `ecosort csv`: rows of CSV by columns.
#include <fmt/format.h>

#include "base/errors.h"
#include "base/open_files.h"
#include "base/size_text.h"
#include "base/threads.h"
#include "cli/commands.h"
#include "cli/csv_options.h"
#include "cli/end_at_once.h"
#include "cli/option_table.h"
#include "cli/report.h"
#include "cli/rows_report.h"
#include "cli/run_job.h"
#include "cli/say.h"
#include "cli/watched_run.h"
#include "engine/rows/check_lines.h"
#include "io/posix_storage.h"
#include "job/prepare_csv.h"
#include "plan/line_plan.h"

namespace ecosort::cli {
namespace {

constexpr RowWords row_words{"ecosort.csv-stats/1", "rows", "rows_dropped", "longest_row_bytes"};

std::uint64_t rows_of(const lines::LinesReport& report) { return report.lines - report.top_lines; }

nlohmann::ordered_json stats(const CsvOptions& options, const lines::LinesReport& report, const engine::PhaseLog& log,
                             const ProcessUsage& usage, const lines::LinesJob& job, const char* backend) {
  nlohmann::ordered_json json = rows_stats_json(row_words, report, log, usage, job, backend);
  json["rows"] = rows_of(report);
  nlohmann::ordered_json keys = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < options.spec.csv.keys.size(); ++i) {
    const rows::KeyCounts counts = i < report.key_counts.size() ? report.key_counts[i] : rows::KeyCounts{};
    keys.push_back({{"by", options.spec.csv.keys[i]}, {"empty_values", counts.empty}, {"unparsable_values", counts.unparsable}});
  }
  json["keys"] = std::move(keys);
  return json;
}

// How many values have no place in the order of their key.
void tell_nulls(const CsvOptions& options, const lines::LinesReport& report) {
  for (std::size_t i = 0; i < report.key_counts.size(); ++i) {
    const rows::KeyCounts& counts = report.key_counts[i];
    if (counts.empty + counts.unparsable == 0) continue;
    print_notice(options.quiet,
                 fmt::format("--by {}: {} empty and {} unparsable values stand {}", options.spec.csv.keys[i], counts.empty,
                             counts.unparsable, options.spec.csv.nulls_first ? "in front of all others" : "behind all others"));
  }
}

int check_order(const CsvOptions& options) {
  const std::string& name = options.spec.inputs.front();
  const auto format = job::csv_format_of(options.spec);
  lines::LinesOptions means;
  if (options.spec.memory_bytes > 0) means.memory = fmt::format("{}B", options.spec.memory_bytes);
  const lines::CheckedFile file{name, job::line_memory_of(means), options.spec.compression.decompress};
  const auto disorder = lines::find_disorder(file, *format, options.spec.unique);
  if (!disorder) return 0;
  say_line(
      fmt::format("ecosort: {}: line {} is out of order: {}", rows::shown_name(name), disorder->line_number, disorder->line));
  return 1;
}

int sort_files(const CsvOptions& options, double started_s) {
  raise_open_files();
  io::PosixStorage storage;
  tell_waits(storage, options.quiet);
  job::PreparedLines prepared = job::prepare_csv(options.spec, storage, job::SpecialOutput::redirected);
  lines::LinesJob& job = prepared.job;
  const io::Backend backend = job::make_line_queue(options.spec.io, prepared);
  print_notice(options.quiet, backend.notice);
  if (!prepared.is_small) check_threads_can_start(job.plan.threads + 1);  // and the progress line's
  WatchedRun run({options.stats, options.events, options.progress, options.quiet, job.output});
  const lines::LinesReport report = run.watch(
      *backend.queue,
      [&](auto& progress, auto& log, const auto& interrupted) {
        try {
          return lines::sort_lines(job, storage, *backend.queue, progress, log, interrupted);
        } catch (const io::QueueBroken& broken) {
          end_at_once(progress, broken);
        }
      },
      [](const lines::LinesReport& done) { return rows_summary(done, rows_of(done), "row"); });
  for (const std::string& notice : report.notices) print_notice(options.quiet, notice);
  tell_nulls(options, report);
  run.write_reports("the sorted output is complete", [&] {
    return stats(options, report, run.log(), process_usage(started_s), job, backend.queue->backend_name());
  });
  return 0;
}

}  // namespace

int run_csv(const Words& words) {
  const double started_s = engine::monotonic_seconds();
  const CsvOptions options = parse_csv_options(words);
  if (options.help) {
    print_out(help_text(command_table("csv")));
    return 0;
  }
  ignore_write_signals();
  return options.check ? check_order(options) : sort_files(options, started_s);
}

}  // namespace ecosort::cli
