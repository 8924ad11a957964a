// `ecosort csv` and `ecosort jsonl`: rows by columns, lines of JSON by paths; and their plans.
#include <fmt/format.h>

#include "base/errors.h"
#include "base/open_files.h"
#include "base/size_text.h"
#include "base/threads.h"
#include "cli/commands.h"
#include "cli/lines_bounds.h"
#include "cli/option_table.h"
#include "cli/report.h"
#include "cli/report_files.h"
#include "cli/resumable_rows.h"
#include "cli/rows_report.h"
#include "cli/run_job.h"
#include "cli/say.h"
#include "cli/sort_rows.h"
#include "cli/table_options.h"
#include "cli/table_report.h"
#include "cli/watched_run.h"
#include "cli/write_signals.h"
#include "job/first_row.h"
#include "job/format_names.h"
#include "job/session.h"

namespace ecosort::cli {
namespace {

int check_order(const TableOptions& options) {
  const std::string& name = options.request.inputs.front();
  const auto disorder = job::find_row_disorder(options.request);
  if (!disorder) return 0;
  say_line(
      fmt::format("ecosort: {}: line {} is out of order: {}", rows::shown_name(name), disorder->line_number, disorder->line));
  return 1;
}

int sort_files(const TableOptions& options, double started_s) {
  raise_open_files();
  job::Session session;
  tell_waits(session, options.reports.quiet);
  job::PreparedLines prepared = job::prepare_rows(options.request, session.storage(), job::SpecialOutput::redirected);
  lines::LinesJob& job = prepared.job;
  session.open_queue(options.request.means.io, prepared);
  print_notice(options.reports.quiet, session.notice());
  if (!prepared.is_small) check_threads_can_start(job.plan.threads + 1, "--threads");  // and the progress line's
  check_report_files(options.reports.files(), job.inputs, job.output);
  RunReports reports = options.reports;
  reports.output = job.output;
  WatchedRun run(std::move(reports));
  const lines::LinesReport report = sort_rows(run, job, session, {"csv", "--memory", "--temp"}, table_summary);
  for (const std::string& notice : report.notices) print_notice(options.reports.quiet, notice);
  for (const std::string& notice : null_notices(options.request, report)) print_notice(options.reports.quiet, notice);
  run.write_reports("the sorted output is complete", [&] {
    return table_stats_json(options.request, report, run.log(), process_usage(started_s), job, session.backend_name());
  });
  return 0;
}

int run(Format format, const Words& words) {
  const double started_s = engine::monotonic_seconds();
  const std::string_view command = job::name_of(format);
  const TableOptions options = parse_table_options(format, command, words);
  if (options.help) {
    print_out(help_text(command_table(command)));
    return 0;
  }
  ignore_write_signals();
  print_notice(options.reports.quiet, notice_of(options.profile));
  if (options.request.place.kind == PlaceKind::resumable) {
    check_job(options);
    if (const std::optional<int> code = run_rows_job(rows_command(options), started_s)) return *code;
  }
  return options.check ? check_order(options) : sort_files(options, started_s);
}

int plan(Format format, const Words& words) {
  const std::string command = fmt::format("plan {}", job::name_of(format));
  const TableOptions options = parse_table_options(format, command, words);
  if (options.help) {
    print_out(help_text(command_table(command)));
    return 0;
  }
  raise_open_files();
  job::Session session;
  const lines::LinesJob job =
      job::make_rows_job(options.request, session.storage(), job::SpecialOutput::redirected, options.assumed_bytes);
  job::check_first_row(job.inputs, *job.format);  // which the plan does not need any more
  if (options.request.place.kind == PlaceKind::resumable) {
    check_job(options);
    if (plan_rows_job(rows_command(options), options.json, session.storage())) return 0;
  }
  const std::uint64_t known = job::are_known(job.inputs) ? job::known_bytes(job.inputs) : 0;
  print_out(lines_bounds_text(job, options.assumed_bytes != 0 ? options.assumed_bytes : known));
  return 0;
}

}  // namespace

int run_csv(const Words& words) { return run(Format::csv, words); }
int run_jsonl(const Words& words) { return run(Format::jsonl, words); }
int plan_csv(const Words& words) { return plan(Format::csv, words); }
int plan_jsonl(const Words& words) { return plan(Format::jsonl, words); }

}  // namespace ecosort::cli
