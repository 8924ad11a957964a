#include "cli/merge_runs.h"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "base/open_files.h"
#include "base/threads.h"
#include "cli/lines_report.h"
#include "cli/option_table.h"
#include "cli/report_files.h"
#include "cli/run_job.h"
#include "cli/say.h"
#include "cli/sort_rows.h"
#include "cli/write_signals.h"
#include "demsort_inplace/prepare/job_runs.h"
#include "job/prepare_runs.h"

namespace ecosort::cli {
namespace {

constexpr std::string_view job_ending = ".ecosort";

std::string file_of_job(std::string directory) {
  while (directory.size() > 1 && directory.ends_with('/')) directory.pop_back();
  if (directory.ends_with(job_ending) && directory.size() > job_ending.size())
    return directory.substr(0, directory.size() - job_ending.size());
  throw UsageError(fmt::format("'{}' is a directory, and not that of a job (OUTPUT{})", directory, job_ending));
}

// While the job is not complete its file is the job's business.
void check_output_is_not_of_job(const std::string& output, const std::string& file) {
  std::error_code none;
  if (output == "-" || std::filesystem::weakly_canonical(output, none) != std::filesystem::weakly_canonical(file, none)) return;
  throw UsageError(fmt::format(
      "'{}' is the file of the job itself: name another output, or complete the job with: ecosort resume {}", output, file));
}

// Directories of jobs become the runs in them.
struct NamedRuns {
  std::vector<std::string> paths;
  std::vector<job::RestOfJob> rests;  // of their inputs
  std::vector<io::FilePtr> locks;
};

NamedRuns named_runs(const SortOptions& options, job::Session& session) {
  NamedRuns named;
  std::error_code none;
  for (const std::string& input : options.request.inputs) {
    if (!std::filesystem::is_directory(input, none)) {
      if (options.append_rest)
        throw UsageError(fmt::format("--append-rest takes the rest from the job: name its directory (OUTPUT{}) in place of '{}'",
                                     job_ending, input));
      named.paths.push_back(input);
      continue;
    }
    const std::string file = file_of_job(input);
    check_output_is_not_of_job(options.request.place.output, file);
    session.open_queue(options.request.means.io, job_queue_depth);
    inplace::JobRuns runs = inplace::runs_of_job(file, options.append_rest, session.storage(), session.queue());
    session.close_queue();
    named.paths.insert(named.paths.end(), runs.paths.begin(), runs.paths.end());
    if (runs.rest) named.rests.push_back(std::move(*runs.rest));
    named.locks.push_back(std::move(runs.directory));
  }
  return named;
}

int merge_rows(const SortOptions& options, job::PreparedLines prepared, job::Session& session, double started_s) {
  lines::LinesJob& job = prepared.job;
  session.open_queue(options.request.means.io, prepared);
  print_notice(options.reports.quiet, session.notice());
  check_threads_can_start(job.plan.threads + 1, "--threads");
  check_report_files(options.reports.files(), job.inputs, job.output);
  RunReports reports = options.reports;
  reports.output = job.output;
  WatchedRun run(std::move(reports));
  const lines::LinesReport report = sort_rows(run, job, session, {"merge", "--memory", "--temp"},
                                              [](const lines::LinesReport& done) { return summary_of(done); });
  for (const std::string& notice : report.notices) print_notice(options.reports.quiet, notice);
  run.write_reports("the merged output is complete",
                    [&] { return lines_stats_json(report, run.log(), process_usage(started_s), job, session.backend_name()); });
  return 0;
}

}  // namespace

int merge_runs(const Words& words, double started_s) {
  const SortOptions options = parse_sort_options("merge", words);
  if (options.help) {
    print_out(help_text(command_table("merge")));
    return 0;
  }
  std::set<std::string_view> given = options.given;
  given.insert("--runs");
  check_conflicts(command_table("merge"), given);
  ignore_write_signals();
  job::Session session;
  tell_waits(session, options.reports.quiet);
  raise_open_files();
  NamedRuns named = named_runs(options, session);
  Request request = options.request;
  request.inputs = named.paths;
  job::PreparedRuns prepared = job::prepare_runs(request, std::move(named.rests), session.storage());
  if (prepared.rows) return merge_rows(options, std::move(*prepared.rows), session, started_s);
  return merge_records(options, std::move(*prepared.records), session, started_s);
}

}  // namespace ecosort::cli
