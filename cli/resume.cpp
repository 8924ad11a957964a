// `ecosort resume`: continues with an interrupted job of any kind, reports how far it is, or abandons it.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/errors.h"
#include "base/size_text.h"
#include "base/threads.h"
#include "base/user.h"
#include "cli/command_line.h"
#include "cli/jobs.h"
#include "cli/not_begun.h"
#include "cli/run_job.h"
#include "cli/say.h"
#include "cli/write_signals.h"
#include "job/session.h"

namespace ecosort::cli {

namespace {

using Kind = demsort_inplace::JobStatus::Kind;

const char* phase_of(const demsort_inplace::JobStatus& status) {
  if (status.kind == Kind::removed) return "complete and sorted; nothing to resume";
  if (status.kind == Kind::not_begun) return "not begun";
  if (status.kind == Kind::complete) return "complete, to be cleaned up";
  if (status.is_abandoned()) return "being abandoned";
  if (status.contents->header.lines) return status.contents->state ? "merge" : "run formation";
  return status.records_formed() < status.contents->header.layout.records ? "run formation" : "merge";
}

std::string kind_text(const demsort_inplace::JobHeader& header) {
  if (header.is_in_place()) return "in place";
  std::string text = "resumable sort of";
  for (const demsort_inplace::InputIdentity& input : header.inputs) text += fmt::format(" '{}'", input.path);
  return text;
}

// Says what a job does before anything else: that takes a while, too.
std::string recheck_text(std::uint64_t bytes) {
  return bytes == 0 ? "" : fmt::format("  read again before that         {} of the output\n", format_bytes(bytes));
}

std::string status_text(const std::string& path, const demsort_inplace::JobStatus& status) {
  std::string text = fmt::format("{}: {}\n", path, phase_of(status));
  if (status.is_busy) text += "  another process is working on it\n";
  if (status.has_other_file)
    text += fmt::format("  '{}' exists, although its contents are in the job; move it away to continue\n", path);
  if (!status.contents) return text;
  const bool is_sorting = !status.is_abandoned() && status.kind == Kind::under_way;
  if (status.contents->header.lines)
    return text + rows_status_text(status) +
           (is_sorting ? recheck_text(demsort_inplace::prepare::progress_of(*status.contents).in_output) : "");
  const demsort_inplace::JobHeader& header = status.contents->header;
  const demsort_inplace::Layout& layout = header.layout;
  const auto share = [&](std::uint64_t records) {
    return fmt::format("{} of {} ({:.1f} %)", records, layout.records,
                       100.0 * static_cast<double>(records) / static_cast<double>(layout.records));
  };
  text += fmt::format("  job                            {}\n", kind_text(header));
  text += fmt::format("  records of {} bytes in runs     {}\n", layout.record_size, share(status.records_formed()));
  text += fmt::format("  records in the output          {}\n", share(status.records_merged()));
  const std::uint64_t left = (layout.records - status.records_formed()) * 2 + status.records_formed() - status.records_merged();
  if (is_sorting)
    text += fmt::format("  left to read and write         {} each\n", format_bytes(left * layout.record_size)) +
            recheck_text(status.records_merged() * layout.record_size);
  return text + fmt::format("  memory it was planned with     {}\n", format_bytes(header.memory_bytes));
}

// The job's directory may be named as well, or a link to the output.
void accept_other_names(std::string& file) {
  while (file.size() > 1 && file.ends_with('/')) file.pop_back();
  constexpr std::string_view ending = ".ecosort";
  std::error_code none;
  const auto exists = [&](const std::string& path) {
    return std::filesystem::exists(std::filesystem::symlink_status(path, none));
  };
  const bool is_directory = std::filesystem::is_directory(file, none) || !exists(file);  // or was one
  if (file.ends_with(ending) && is_directory && !exists(file + std::string(ending))) file.resize(file.size() - ending.size());
  if (std::filesystem::is_symlink(file, none)) file = io::resolve_output(file).path;
}

// Neither of them holds a record that is not elsewhere. What was begun but not done is not what the user asked for; what is done
// is.
int discard_trace(const CommandLine& line, const JobRun& run, demsort_inplace::JobStatus status, io::PosixStorage& storage) {
  const std::string& file = run.file;
  const bool is_whole = storage.exists(file), was_finished = status.kind == Kind::removed;
  run.reports.print(demsort_inplace::discard(file, std::move(status), storage));
  if (was_finished && is_whole) {
    run.reports.print(fmt::format("'{}' is complete and sorted; nothing to resume", file));
    return 0;
  }
  const std::string what = was_finished ? fmt::format("the job of '{}' had finished, but that file is gone", file)
                           : is_whole
                               ? fmt::format("'{}' is whole: nothing had been changed; the job directory was removed", file)
                               : fmt::format("the job of '{}' had not begun; its directory was removed", file);
  if (!line.has("--abandon")) throw NotBegun(fmt::format("{}; start the sort again", what));
  run.reports.print(what);
  return 0;
}

// The last job may have been completed long ago, or no sort was ever begun: its output shows which, because it has its name only
// when it is complete.
int tell_no_job(const CommandLine& line, const JobRun& run, io::PosixStorage& storage) {
  const std::string& file = run.file;
  const std::string directory = demsort_inplace::JobPaths(file).directory;
  std::error_code none;
  if (!storage.exists(file))
    throw NotBegun(
        fmt::format("no sort of '{}' was begun: there is neither that file nor '{}'; start the sort", file, directory));
  if (!std::filesystem::is_regular_file(file, none))
    throw UsageError(fmt::format("'{}' is no file that a job sorts, and there is no '{}'", file, directory));
  const std::string text =
      fmt::format("no interrupted job of '{}': there is no '{}', and the file is whole; nothing to resume", file, directory);
  if (line.has("--status"))
    print_out(text + "\n");
  else
    run.reports.print(text);
  return 0;
}

// Trusts a journal of somebody else only with that user's rights, not with root's: it names files that are read and written.
demsort_inplace::Trust trust_for(const CommandLine& line, const JobRun& run) {
  if (!line.has("--trust-owner")) return {};
  const User user = find_user(std::string(line.word("--trust-owner")), "--trust-owner");
  struct stat status{};
  const std::string directory = demsort_inplace::JobPaths(run.file).directory;
  if (::geteuid() == 0 && user.user != 0 && ::lstat(directory.c_str(), &status) == 0 && status.st_uid == user.user) {
    become(user);
    run.reports.print(fmt::format("working as user {}, whom '{}' belongs to", user.name, directory));
  }
  return {user.user};
}

// A job of fixed records.
int resume_records(const CommandLine& line, const JobRun& run, demsort_inplace::JobStatus status, job::Session& session,
                   double started_s, bool abandons) {
  const planner::RecordPlan plan = demsort_inplace::prepare::plan_resumed(status.contents->header, line.request.means);
  check_threads_can_start(plan.wanted.threads + 1, "--threads");
  if (line.has("--trust-drive") && status.records_merged() > 0)
    run.reports.print(
        fmt::format("--trust-drive: the {} records that the output holds are not read again", status.records_merged()));
  return run_job(run, session, started_s, [&](demsort_inplace::JobContext environment) {
    environment.trusts_drive = line.has("--trust-drive");
    environment.only_completes = !line.has("--abandon");
    return result_of(abandons ? demsort_inplace::abandon(run.file, std::move(status), plan, environment)
                              : demsort_inplace::resume(run.file, std::move(status), plan, environment));
  });
}

}  // namespace

int run_resume(const Words& words) {
  const double started_s = engine::monotonic_seconds();
  const CommandLine line = read_command_line("resume", words);
  if (line.asks_for_help()) return print_help(*line.table);
  if (line.request.inputs.size() != 1) throw UsageError("resume: name one file");
  if (line.has("--status") && line.has("--abandon")) throw UsageError("resume: give either --status or --abandon");
  ignore_write_signals();
  JobRun run{line.request.inputs.front(), line.reports};
  std::string& file = run.file;
  accept_other_names(file);
  const demsort_inplace::Trust trust = trust_for(line, run);
  job::Session session;
  io::PosixStorage& storage = session.storage();
  tell_waits(session, run.reports);
  open_queue(session, line.request.means.io, job_queue_depth, run.reports);
  demsort_inplace::JobStatus status = line.has("--status") ? demsort_inplace::look_at_job(file, storage, session.queue(), trust)
                                                           : demsort_inplace::examine(file, storage, session.queue(), trust);
  if (status.kind == Kind::none) return tell_no_job(line, run, storage);
  if (line.has("--status")) {
    print_out(status_text(file, status));
    return 0;
  }
  if (!status.contents || status.kind == Kind::not_begun) return discard_trace(line, run, std::move(status), storage);
  demsort_inplace::check_place(*status.journal, status.contents->header, file);
  run.is_in_place = status.contents->header.is_in_place();
  if (status.contents->header.lines) run.items = rows_noun(status.contents->header.lines->command);
  std::vector<std::string> inputs;
  for (const demsort_inplace::InputIdentity& input : status.contents->header.inputs) inputs.push_back(input.path);
  check_job_reports(run, inputs);
  const bool abandons = line.has("--abandon") || status.is_abandoned();
  if (abandons && !line.has("--abandon"))
    run.reports.print(fmt::format("the job of '{}' was abandoned; that is completed", file));
  const bool was_named = status.kind == Kind::complete && !storage.exists(demsort_inplace::JobPaths(file).output);
  const int code = status.contents->header.lines ? resume_rows_job(line, run, std::move(status), session, started_s, abandons)
                                                 : resume_records(line, run, std::move(status), session, started_s, abandons);
  if (was_named && !abandons) run.reports.print(fmt::format("'{}' is complete and sorted; nothing to resume", file));
  return code;
}

}  // namespace ecosort::cli
