// `ecosort merge`: sorted files of records into one; with --lines those of text lines, with --runs the runs of jobs.
#include <fmt/format.h>

#include "base/errors.h"
#include "base/open_files.h"
#include "base/threads.h"
#include "cli/commands.h"
#include "cli/compression_options.h"
#include "cli/report.h"
#include "cli/report_files.h"
#include "cli/rows_report.h"
#include "cli/run_job.h"
#include "cli/say.h"
#include "cli/sorts.h"
#include "cli/telling_phase.h"
#include "cli/watched_run.h"
#include "cli/write_signals.h"
#include "job/prepare_merge.h"
#include "job/session.h"

namespace ecosort::cli {
namespace {

engine::WorkReport merge_telling_phase(engine::fixed::MergeFilesJob& job, const engine::Environment& environment) {
  try {
    return telling_phase(environment.progress, [&] { return engine::fixed::merge_files(job, environment); });
  } catch (const NotSorted& unsorted) {
    if (job.is_of_runs()) throw;
    throw NotSorted(
        fmt::format("{}; sort it first (ecosort sort), or name the keys by which it is sorted with --key", unsorted.what()),
        unsorted.record);
  }
}

Json stats(const engine::WorkReport& report, const engine::fixed::MergeFilesJob& job, const engine::PhaseLog& log,
           const ProcessUsage& usage, const std::string& backend) {
  Json json{{"schema", "ecosort.merge-stats/1"},
            {"records", report.records},
            {"records_dropped", report.dropped},
            {"records_counted", report.counted},
            {"records_appended", report.appended},
            {"record_size_bytes", job.format.record_size},
            {"compression", {{"runs", run_compression_json(job.plan.packing, report.run_packing)}}},
            {"duplicate_keys", *report.equal_pairs},
            {"checksum", nullptr}};
  if (job.checksum) json["checksum"] = report.checksum.to_hex();
  json.update(work_json(report, log, usage, backend));
  json.update({{"files_at_a_time", job.plan.fan_in}, {"threads", job.threads}, {"memory_limit_bytes", job.memory_bytes}});
  return json;
}

}  // namespace

int merge_records(const CommandLine& line, engine::fixed::MergeFilesJob job, job::Session& session, double started_s) {
  check_report_files(line.reports.files(), job.inputs, job::written_files(line.request));
  open_queue(session, line.request.means.io, job.plan.read_depth + job.plan.write_depth + 4, line.reports);
  check_threads_can_start(job.threads + 1, "--threads");
  WatchedRun run(line.reports);
  const auto sum_up = [&](const engine::WorkReport& report) {
    return JobSummary{
        "merged", report.records * job.format.record_size,
        records_text(report.records) + groups_text(report) + appended_text(report) + packed_text(report.run_packing)};
  };
  const engine::WorkReport report =
      run.watch(session, [&](const engine::Environment& environment) { return merge_telling_phase(job, environment); }, sum_up);
  run.write_reports("the merged output is complete", report.notices,
                    [&] { return stats(report, job, run.log(), process_usage(started_s), session.backend_name()); });
  return 0;
}

int run_merge(const Words& words) {
  const double started_s = engine::monotonic_seconds();
  if (!words.empty() && words.front() == "--lines") return merge_lines({words.begin() + 1, words.end()});
  const CommandLine line = read_sort_words("merge", words);
  if (line.asks_for_help()) return print_help(*line.table);
  const bool merges_runs = line.has("--runs");
  if (merges_runs && words.front() != "--runs") throw UsageError("merge: --runs comes first, and the runs behind it");
  if (line.has("--append-rest") && !merges_runs) throw UsageError("merge: --append-rest goes with --runs, which comes first");
  ignore_write_signals();
  return merges_runs ? merge_runs(line, started_s) : merge_sorted_records(line, started_s);
}

int plan_merge(const CommandLine& line) {
  job::Session session;
  raise_open_files();
  const engine::fixed::MergeFilesJob job = job::prepare_merge(line.request, session.storage());
  print_out(fmt::format("Plan: merge\n  files               {}\n  merged at a time    up to {}\n", line.request.inputs.size(),
                        job.plan.fan_in));
  return 0;
}

int merge_sorted_records(const CommandLine& line, double started_s) {
  job::Session session;
  tell_waits(session, line.reports);
  raise_open_files();
  return merge_records(line, job::prepare_merge(line.request, session.storage()), session, started_s);
}

}  // namespace ecosort::cli
