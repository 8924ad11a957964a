#include "cli/rows_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/errors.h"
#include "base/open_files.h"
#include "base/threads.h"
#include "cli/compression_options.h"
#include "cli/jobs.h"
#include "cli/report_files.h"
#include "cli/rows_report.h"
#include "cli/say.h"
#include "cli/sorts.h"
#include "cli/telling_phase.h"
#include "formats/lines/key_words.h"
#include "job/first_row.h"
#include "job/prepare_rows.h"

namespace ecosort::cli {

namespace {

constexpr std::size_t most_keys = 128;  // the journal counts the values of each, for each run

// The means of this time; those that are not given are the journal's.
void take_means(const Means& now, const demsort_inplace::JobHeader& header, Request& request) {
  request.means.memory_bytes = now.memory_bytes != 0 ? now.memory_bytes : header.memory_bytes;
  request.means.memory_is_a_wish = now.memory_bytes == 0;
  request.means.threads = now.threads != 0 ? now.threads : header.threads;
}

Request request_of_words(const std::string& file, const demsort_inplace::JobHeader& header) {
  const std::string& name = header.lines->command;
  if (name != "lines" && name != "csv" && name != "jsonl")
    throw IoError(fmt::format("the journal of '{}' names a command '{}' that there is not", file, name));
  const demsort_inplace::LineTerms::OldWords& old = *header.lines->old;
  Request request = read_command_line(command_table(name), old.words, old.rules).request;
  if (auto* const lines = std::get_if<Lines>(&request.rows)) lines->random_salt = lines::salt_text(old.salt);
  return request;
}

void check_in_place(const CommandLine& line) {
  const Request& request = line.request;
  if (line.has("--files0-from") || request.inputs.size() != 1 || request.inputs.front() == "-")
    throw UsageError("--inplace: name one file");
  const Compression& compression = request.compression;
  if ((!compression.runs.empty() && compression.runs != "auto" && compression.runs != "none") || compression.assumed_ratio > 0 ||
      compression.energy || !compression.program.empty())
    throw UsageError("--inplace: runs reuse the file's own space, uncompressed; leave out what compresses them");
}

// Sorts, watched; ends the program where the queue breaks (end_at_once()). Throws what sort_lines() does, with what to do about a
// drive that is full.
engine::rows::LinesReport sort_rows(const RowsRun& run, WatchedRun& watched, engine::rows::LinesJob& job, job::Session& session) {
  const auto sort = [&](const engine::Environment& environment) {
    try {
      return engine::rows::sort_lines(job, environment);
    } catch (const io::QueueBroken& broken) {
      end_at_once(environment.progress, broken);
    } catch (const IoError& error) {
      const std::string advice = advice_on_failure(error.error_number(), run.words);
      if (advice.empty()) throw;
      throw IoError(error.what() + advice, error.error_number());
    }
  };
  return watched.watch(session, sort, [&](const engine::rows::LinesReport& done) { return rows_summary(run.request, done); });
}

}  // namespace

void check_job(const CommandLine& line) {
  const Request& request = line.request;
  if (request.place.kind == PlaceKind::in_place) return check_in_place(line);
  if (request.values() != nullptr && request.values()->keys.size() > most_keys)
    throw UsageError(fmt::format("--resumable takes up to {} keys; these are {}", most_keys, request.values()->keys.size()));
  if (request.place.output.empty() || request.place.output == "-")
    throw UsageError("--resumable needs an output with a name, for its job directory; name it with -o FILE");
  if (std::ranges::find(request.inputs, "-") != request.inputs.end())
    throw UsageError("--resumable: standard input cannot be read again after a crash; name the input");
}

JobResult result_of(const Request& request, engine::rows::LinesReport report, const engine::rows::LinesJob& figures) {
  JobResult result{rows_summary(request, report), report.notices, {}};
  std::ranges::copy(row_notices(request, report), std::back_inserter(result.notices));
  result.stats = [request, report = std::move(report), &figures](const engine::PhaseLog& log, double started_s,
                                                                 const std::string& backend) {
    return rows_stats_json(request, report, log, process_usage(started_s), figures, backend);
  };
  return result;
}

Request request_of(const Means& now, const std::string& file, const demsort_inplace::JobHeader& header) {
  Request request = header.lines->old ? request_of_words(file, header) : demsort_inplace::prepare::request_of(header, file);
  request.place.output = file;
  take_means(now, header, request);
  return request;
}

int run_rows(const RowsRun& run, job::PreparedLines& prepared, job::Session& session) {
  engine::rows::LinesJob& job = prepared.job;
  session.open_queue(run.request.means.io, prepared);
  run.reports.print(session.notice());
  if (!prepared.is_small) check_threads_can_start(job.plan.threads + 1, run.threads_option);  // and the progress line's
  check_report_files(run.reports.files(), job.inputs, job::written_files(run.request));
  RunReports reports = run.reports;
  reports.output = job.output;
  WatchedRun watched(std::move(reports));
  const JobResult result = result_of(run.request, sort_rows(run, watched, job, session), job);
  watched.write_reports(run.done, result.notices,
                        [&] { return result.stats(watched.log(), run.started_s, session.backend_name()); });
  return 0;
}

int run_rows(const CommandLine& line, const char* command, const char* done, double started_s) {
  raise_open_files();
  job::Session session;
  tell_waits(session, line.reports);
  job::PreparedLines prepared = job::prepare_rows(line.request, session.storage(), job::SpecialOutput::redirected);
  return run_rows({.request = line.request,
                   .reports = line.reports,
                   .words = {command, "--memory", "--temp"},
                   .threads_option = "--threads",
                   .done = done,
                   .started_s = started_s},
                  prepared, session);
}

bool plans_assumed_rows(const CommandLine& line, std::string_view command) {
  if (line.assumed_bytes() == 0) return false;
  if (line.is_resumable()) throw UsageError(fmt::format("{}: --assume-size cannot be combined with --resumable", command));
  if (!line.request.inputs.empty())
    throw UsageError(fmt::format("{}: --assume-size is for rows that are not there; leave one of them out", command));
  return true;
}

int plan_rows(const CommandLine& line) {
  raise_open_files();
  job::Session session;
  const bool are_lines = line.request.format() == Format::lines, is_job = line.request.place.kind != PlaceKind::file;
  const auto plan_job = [&] { return is_job && plan_rows_job(line.request, line.has("--json"), session.storage()); };
  if (is_job) check_job(line);
  if (are_lines && plan_job()) return 0;
  const std::uint64_t assumed_bytes = line.assumed_bytes();
  const engine::rows::LinesJob job =
      job::make_rows_job(line.request, session.storage(), job::SpecialOutput::unopened, assumed_bytes);
  if (line.request.values() != nullptr) job::check_first_row(job.inputs, *job.format);  // which the plan does not need any more
  if (!are_lines && plan_job()) return 0;
  const std::uint64_t known = job::are_known(job.inputs) ? job::known_bytes(job.inputs) : 0;
  const std::vector<job::SpaceNeed> space = job::space_needs(job, session.storage());
  print_out(lines_bounds_text(job, assumed_bytes != 0 ? assumed_bytes : known, space));
  job::check_space(job, space);
  return 0;
}

const char* rows_noun(const std::string& command) { return command == "lines" ? "lines" : "rows"; }

}  // namespace ecosort::cli
