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
#include "cli/jobs.h"
#include "cli/option_table.h"
#include "cli/plan_values.h"
#include "cli/report.h"
#include "cli/report_files.h"
#include "cli/run_job.h"
#include "cli/say.h"
#include "cli/sorts.h"
#include "cli/telling_phase.h"
#include "cli/watched_run.h"
#include "job/predict.h"
#include "job/session.h"
#include "sortbenchmark/gensort.h"

namespace ecosort::cli {

job::Leeway leeway_of(const CommandLine& line) { return {.runs_are_a_hint = line.profile.used.contains("--run-records")}; }

Request request_of(const CommandLine& line) {
  Request request = line.request;
  if (!leeway_of(line).runs_are_a_hint) return request;
  const std::uint64_t wanted = request.means.memory_bytes;
  const std::uint64_t bytes = wanted != 0 ? wanted : planner::default_memory_bytes(planner::read_machine());
  if (!line.profile.is_for("--run-records", bytes)) request.means.run_records = 0;
  return request;
}

namespace {

void check_complete(std::string_view teller, const CommandLine& line) {
  const Request& request = line.request;
  if (request.verification.checksum && records::size_of(line.records()) != sortbenchmark::gensort_record_bytes)
    throw UsageError("--checksum is that of the Sort Benchmark's records of 100 bytes; leave it out, or --record-size");
  if (line.has("--lines")) throw UsageError("merge: --lines comes first, and the options of `ecosort lines` behind it");
  if (line.assumed_bytes() != 0) {
    if (!request.inputs.empty()) throw UsageError("--assume-size is for an input that is not there; leave one of them out");
    return;
  }
  if (request.inputs.empty()) {
    const bool may_be_stream = teller == "sort" || teller == "plan sort";
    throw UsageError(
        fmt::format("{}: no input; name one or more files{}", teller, may_be_stream ? ", or - for standard input" : ""));
  }
  if (request.place.output.empty())
    throw UsageError(fmt::format(
        "{}: no output; name {}", teller,
        teller == "partition" ? "a directory for the slices with -o DIR" : "it with -o FILE, or -o - for standard output"));
}

std::string tuning_notice(const CommandLine& line, const job::PreparedRecords& resolved) {
  if (resolved.tuning_notice.empty()) return "";
  return fmt::format("profile '{}': {}", line.profile.path, resolved.tuning_notice);
}

job::PreparedRecords prepare(const CommandLine& line, io::PosixStorage& storage, bool space_is_only_told = false) {
  job::Leeway leeway = leeway_of(line);
  if (line.assumed_bytes() != 0)
    return job::prepare_assumed(request_of(line), line.assumed_bytes() / records::size_of(line.records()), storage, leeway);
  leeway.space_is_only_told = space_is_only_told;
  job::PreparedRecords prepared = job::prepare_records(request_of(line), storage, leeway);
  check_report_files(line.reports.files(), prepared.job.inputs, job::written_files(line.request));
  return prepared;
}

void print_plan(const CommandLine& line, const job::PreparedRecords& resolved, const std::string& backend) {
  const std::vector<PlanValue> values = values_of(line, resolved, backend);
  planner::MaybePrediction forecast;
  if (line.profile.profile) forecast = job::predict(resolved.job.plan, resolved.job.inputs, *line.profile.profile);
  if (line.has("--json")) {
    Json json = resolved_plan_json(resolved, backend);
    add_values(json["here"], values, line.profile);
    if (line.profile.profile) json["here"]["prediction"] = forecast_json(forecast);
    print_out(json.text(2) + "\n");
    return;
  }
  print_out(plan_text(resolved, backend) + values_text(values, line.profile) +
            (line.profile.profile ? forecast_text(forecast) : ""));
}

}  // namespace

CommandLine read_sort_words(std::string_view command, const Words& words, std::string_view teller) {
  CommandLine line = read_command_line(command, words);
  if (line.asks_for_help()) return line;
  check_complete(teller.empty() ? command : teller, line);
  take_profile(line);
  return line;
}

int sort_records(const CommandLine& line, double started_s) {
  job::Session session;
  tell_waits(session, line.reports);
  if (line.is_resumable())
    if (const std::optional<int> code = run_resumable(line, session, started_s)) return *code;
  raise_open_files();
  job::PreparedRecords resolved = prepare(line, session.storage());
  for (const std::string& notice : resolved.notices) line.reports.print(notice);
  line.reports.print(tuning_notice(line, resolved));
  session.open_queue(line.request.means.io, resolved.job.plan);
  line.reports.print(session.notice());
  const planner::Wanted& wanted = resolved.job.plan.wanted;
  if (!resolved.job.plan.is_small)
    check_threads_can_start(std::max(wanted.threads, wanted.threads_of_merge()) + 1, "--threads");  // and the progress line's
  WatchedRun run(line.reports);
  const engine::fixed::SortReport report = run.watch(
      session,
      [&](const engine::Environment& environment) {
        return telling_phase(environment.progress, [&] { return engine::fixed::sort(resolved.job, environment); });
      },
      [](const engine::fixed::SortReport& done) { return summary_of(done); });
  run.write_reports("the sorted output is complete", report.notices,
                    [&] { return stats_json(report, run.log(), process_usage(started_s), session.backend_name()); });
  return 0;
}

int plan_records(const CommandLine& line) {
  line.reports.print(notice_of(line.profile));
  job::Session session;
  if (line.is_resumable() && plan_resumable(line, session.storage())) return 0;
  raise_open_files();
  const job::PreparedRecords resolved = prepare(line, session.storage(), line.has("--json"));
  line.reports.print(tuning_notice(line, resolved));
  session.open_queue(line.request.means.io, resolved.job.plan);
  print_plan(line, resolved, session.backend_name());
  if (line.assumed_bytes() == 0) job::check_space(line.request, resolved);  // programs have the numbers all the same
  return 0;
}

}  // namespace ecosort::cli
