// `ecosort sort` and `ecosort plan sort`.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "base/errors.h"
#include "base/json.h"
#include "base/open_files.h"
#include "base/size_text.h"
#include "base/threads.h"
#include "cli/commands.h"
#include "cli/inplace.h"
#include "cli/option_table.h"
#include "cli/plan_values.h"
#include "cli/report.h"
#include "cli/report_files.h"
#include "cli/resumable.h"
#include "cli/run_job.h"
#include "cli/say.h"
#include "cli/sort_options.h"
#include "cli/telling_phase.h"
#include "cli/watched_run.h"
#include "cli/write_signals.h"
#include "job/predict.h"
#include "job/session.h"

namespace ecosort::cli {

namespace {

std::string tuning_notice(const SortOptions& options, const job::PreparedRecords& resolved) {
  if (resolved.tuning_notice.empty()) return "";
  return fmt::format("profile '{}': {}", options.profile.path, resolved.tuning_notice);
}

job::PreparedRecords prepare(const SortOptions& options, io::PosixStorage& storage, bool space_is_only_told = false) {
  job::Leeway leeway = leeway_of(options);
  if (options.assumed_bytes != 0)
    return job::prepare_assumed(request_of(options), options.assumed_bytes / records::size_of(options.records()), storage,
                                leeway);
  leeway.space_is_only_told = space_is_only_told;
  job::PreparedRecords prepared = job::prepare_records(request_of(options), storage, leeway);
  check_report_files(options.reports.files(), prepared.job.inputs, options.request.place.output);
  return prepared;
}

void print_plan(const SortOptions& options, const job::PreparedRecords& resolved, const std::string& backend) {
  const std::vector<PlanValue> values = values_of(options, resolved, backend);
  planner::Forecast forecast;
  if (options.profile.profile) forecast = job::predict(resolved.job.plan, resolved.job.inputs, *options.profile.profile);
  if (options.json) {
    Json json = resolved_plan_json(resolved, backend);
    add_values(json["here"], values, options.profile);
    if (options.profile.profile) json["here"]["prediction"] = forecast_json(forecast);
    print_out(json.text(2) + "\n");
    return;
  }
  print_out(plan_text(resolved, backend) + values_text(values, options.profile) +
            (options.profile.profile ? forecast_text(forecast) : ""));
}

}  // namespace

int run_sort(const Words& words) {
  const double started_s = engine::monotonic_seconds();
  const SortOptions options = parse_sort_options("sort", words);
  if (options.help) {
    print_out(help_text(command_table("sort")));
    return 0;
  }
  ignore_write_signals();
  print_notice(options.reports.quiet, notice_of(options.profile));
  job::Session session;
  tell_waits(session, options.reports.quiet);
  if (options.request.place.kind == PlaceKind::resumable)
    if (const std::optional<int> code = run_resumable(options, session, started_s)) return *code;
  raise_open_files();
  job::PreparedRecords resolved = prepare(options, session.storage());
  for (const std::string& notice : resolved.notices) print_notice(options.reports.quiet, notice);
  print_notice(options.reports.quiet, tuning_notice(options, resolved));
  open_queue(session, options.request.means.io, job::queue_depth(resolved.job.plan), options.reports.quiet);
  const planner::Wanted& wanted = resolved.job.plan.wanted;
  check_threads_can_start(std::max(wanted.threads, wanted.threads_of_merge()) + 1, "--threads");  // and the progress line's
  WatchedRun run(options.reports);
  const engine::SortReport report = run.watch(
      session,
      [&](const engine::Environment& environment) {
        return telling_phase(environment.progress, [&] { return engine::sort(resolved.job, environment); });
      },
      [](const engine::SortReport& done) { return summary_of(done); });
  for (const std::string& notice : report.notices) print_notice(options.reports.quiet, notice);
  run.write_reports("the sorted output is complete",
                    [&] { return stats_json(report, run.log(), process_usage(started_s), session.backend_name()); });
  return 0;
}

int run_plan(const Words& words) {
  if (!words.empty() && (words.front() == "--help" || words.front() == "-h")) {
    print_out(help_text(command_table("plan")));
    return 0;
  }
  if (!words.empty() && words.front() == "inplace") return plan_inplace(Words(words.begin() + 1, words.end()));
  if (!words.empty() && words.front() == "lines") return plan_lines(Words(words.begin() + 1, words.end()));
  if (!words.empty() && words.front() == "csv") return plan_csv(Words(words.begin() + 1, words.end()));
  if (!words.empty() && words.front() == "jsonl") return plan_jsonl(Words(words.begin() + 1, words.end()));
  if (words.empty() || words.front() != "sort")
    throw UsageError(
        fmt::format("plan: {}say what to plan, sort, lines, csv, jsonl or inplace, such as: ecosort plan sort INPUT -o OUTPUT",
                    words.empty() ? "" : fmt::format("'{}' cannot be planned; ", words.front())));
  const SortOptions options = parse_sort_options("plan sort", Words(words.begin() + 1, words.end()));
  if (options.help) {
    print_out(help_text(command_table("plan sort")));
    return 0;
  }
  print_notice(options.reports.quiet, notice_of(options.profile));
  job::Session session;
  if (options.request.place.kind == PlaceKind::resumable && plan_resumable(options, session.storage())) return 0;
  raise_open_files();
  const job::PreparedRecords resolved = prepare(options, session.storage(), options.json);
  print_notice(options.reports.quiet, tuning_notice(options, resolved));
  session.open_queue(options.request.means.io, job::queue_depth(resolved.job.plan));
  print_plan(options, resolved, session.backend_name());
  if (options.assumed_bytes == 0) job::check_space(options.request, resolved);  // programs have the numbers all the same
  return 0;
}

}  // namespace ecosort::cli
