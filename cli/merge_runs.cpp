#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "base/open_files.h"
#include "cli/report_files.h"
#include "cli/rows_command.h"
#include "cli/run_job.h"
#include "cli/sorts.h"
#include "demsort_inplace/prepare/job_runs.h"
#include "job/prepare_runs.h"
#include "job/written_files.h"

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
  if (output == "-" || !job::are_one_file(output, file)) return;
  throw UsageError(fmt::format(
      "'{}' is the file of the job itself: name another output, or complete the job with: ecosort resume {}", output, file));
}

// Directories of jobs become the runs in them.
struct NamedRuns {
  std::vector<std::string> paths;
  std::vector<std::string> files;     // of the jobs
  std::vector<job::RestOfJob> rests;  // of their inputs
  std::vector<io::FilePtr> locks;
};

NamedRuns named_runs(const CommandLine& line, job::Session& session) {
  NamedRuns named;
  const bool appends_rest = line.has("--append-rest");
  std::error_code none;
  for (const std::string& input : line.request.inputs) {
    if (!std::filesystem::is_directory(input, none)) {
      if (appends_rest)
        throw UsageError(fmt::format("--append-rest takes the rest from the job: name its directory (OUTPUT{}) in place of '{}'",
                                     job_ending, input));
      named.paths.push_back(input);
      continue;
    }
    const std::string file = file_of_job(input);
    check_output_is_not_of_job(line.request.place.output, file);
    session.open_queue(line.request.means.io, job_queue_depth);
    demsort_inplace::prepare::JobRuns runs =
        demsort_inplace::prepare::runs_of_job(file, appends_rest, session.storage(), session.queue());
    session.close_queue();
    named.paths.insert(named.paths.end(), runs.paths.begin(), runs.paths.end());
    if (runs.rest) named.rests.push_back(std::move(*runs.rest));
    named.locks.push_back(std::move(runs.directory));
    named.files.push_back(file);
  }
  return named;
}

int merge_rows(const CommandLine& line, job::PreparedLines prepared, job::Session& session, double started_s) {
  const RowsRun run{.request = line.request,
                    .reports = line.reports,
                    .words = {"merge", "--memory", "--temp"},
                    .threads_option = "--threads",
                    .done = "the merged output is complete",
                    .started_s = started_s};
  return run_rows(run, prepared, session);
}

}  // namespace

int merge_runs(const CommandLine& line, double started_s) {
  job::Session session;
  tell_waits(session, line.reports);
  raise_open_files();
  NamedRuns named = named_runs(line, session);
  Request request = line.request;
  request.inputs = named.paths;
  const job::WrittenFiles written = job::written_files(line.request);
  check_report_files(line.reports.files(), named.paths, written);
  for (const std::string& file : named.files) check_report_files(line.reports.files(), std::vector<std::string>(), {file});
  for (const job::RestOfJob& rest : named.rests) {  // which may be nowhere else
    check_report_files(line.reports.files(), rest.records, written);
    if (rest.rows) check_report_files(line.reports.files(), rest.rows->inputs, written);
  }
  job::PreparedRuns prepared = job::prepare_runs(request, std::move(named.rests), session.storage());
  if (prepared.rows) return merge_rows(line, std::move(*prepared.rows), session, started_s);
  return merge_records(line, std::move(*prepared.records), session, started_s);
}

}  // namespace ecosort::cli
