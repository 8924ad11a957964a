#include "cli/run_job.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "base/errors.h"
#include "base/full_drive.h"
#include "base/user.h"
#include "cli/report.h"
#include "cli/report_files.h"
#include "cli/say.h"
#include "cli/telling_phase.h"
#include "demsort_inplace/prepare/ground.h"

namespace ecosort::cli {

namespace {

using Work = std::function<JobResult(const demsort_inplace::JobContext&)>;

// A file that belongs to somebody else keeps its owner in the job.
std::string trust_words(const std::string& file) {
  if (const std::string owner = demsort_inplace::owner_to_trust(demsort_inplace::JobPaths(file)); !owner.empty())
    return fmt::format("--trust-owner {} ", owner);
  struct stat status{};
  if (::lstat(demsort_inplace::JobPaths(file).input.c_str(), &status) != 0 || status.st_uid == ::geteuid()) return "";
  return fmt::format("--trust-owner {} ", user_name(status.st_uid));
}

// Says what can be done where a job was begun; else nothing was changed. That no record is lost is said only where nothing is
// broken.
std::string way_on(const JobRun& run, io::PosixStorage& storage, const std::string& state) {
  try {
    if (!storage.exists(demsort_inplace::JobPaths(run.file).directory)) return "";
  } catch (const Error&) {  // the drive does not even say that: the error that led here is the one to report
  }
  return fmt::format("; {}; continue with: ecosort resume {}{}", state, trust_words(run.file), run.file);
}

// A transfer may have gone wrong once; what stays damaged no one can merge. Of a job that only reads its inputs nothing is lost.
std::string way_past_damage(const JobRun& run, io::PosixStorage& storage) {
  const std::string again = way_on(run, storage, "nothing more was changed");
  if (again.empty()) return "";
  const std::string way =
      !run.is_in_place
          ? fmt::format("ecosort resume --abandon {}, then sort the inputs again", run.file)
          : fmt::format(
                "ecosort resume --abandon {0} gives all {1} back, and with --trust-drive also the damaged ones, as they are; "
                "or restore the file from a copy, or copy '{2}' to a sound drive with ext4 or XFS and continue there",
                run.file, run.items, demsort_inplace::JobPaths(run.file).directory);
  return again + fmt::format(" (if that ends here again: {})", way);
}

// "records": "no record is lost".
std::string is_safe(const JobRun& run) { return fmt::format("no {} is lost", run.items.substr(0, run.items.size() - 1)); }

constexpr const char* is_stopped = "nothing more was changed";

JobResult work_telling_phase(const JobRun& run, const Work& work, io::PosixStorage& storage,
                             const demsort_inplace::JobContext& environment) {
  const auto in_phase = [&](const std::string& line) {
    return fmt::format("{}: {}", engine::to_string(environment.progress.phase()), line);
  };
  try {
    return work(environment);
  } catch (const io::QueueBroken& broken) {
    end_at_once(environment.progress, broken, way_on(run, storage, is_stopped));
  } catch (const demsort_inplace::ExplainedIoError& explained) {
    throw IoError(in_phase(explained.what()));
  } catch (const NameError& error) {
    throw IoError(in_phase(error.what() + way_on(run, storage, is_stopped)));
  } catch (const DamagedRun& damage) {
    throw IoError(in_phase(damage.what() + way_past_damage(run, storage)));
  } catch (const IoError& error) {
    if (error.error_number() == EIO) throw IoError(in_phase(error.what() + way_past_damage(run, storage)), EIO);
    const bool is_harmless = is_full(error.error_number());
    throw IoError(in_phase(error.what() + std::string(is_harmless ? "; make room there" : "") +
                           way_on(run, storage, is_harmless ? is_safe(run) : is_stopped)),
                  error.error_number());
  } catch (const NotEnoughMemory& error) {
    if (const std::string way = way_on(run, storage, is_safe(run)); way.empty()) throw;
    const std::string enough = error.need_bytes == 0 ? "SIZE" : fmt::format("{}KiB", (error.need_bytes + 1023) >> 10U);
    throw UsageError(
        fmt::format("{}; {}; continue with more: ecosort resume --memory {} {}", error.what(), is_safe(run), enough, run.file));
  } catch (const VerificationError& error) {
    throw VerificationError(error.what() + way_on(run, storage, is_stopped));
  } catch (const Interrupted&) {
    if (const std::string way = way_on(run, storage, is_safe(run)); !way.empty())
      say_line(fmt::format("ecosort: stopped at a checkpoint{}", way));
    throw;
  }
}

}  // namespace

JobResult result_of(engine::fixed::SortReport report) {
  JobResult result{summary_of(report), report.notices, {}};
  result.stats = [report = std::move(report)](const engine::PhaseLog& log, double started_s, const std::string& backend) {
    return stats_json(report, log, process_usage(started_s), backend);
  };
  return result;
}

void check_job_reports(const JobRun& run, const std::vector<std::string>& inputs) {
  check_report_files({run.reports.stats, run.reports.events, ""}, inputs, {run.file});
}

int run_job(const JobRun& run, job::Session& session, double started_s, const Work& work) {
  WatchedRun watched(run.reports);
  const JobResult result = watched.watch(
      session,
      [&](const engine::Environment& on) {
        io::PosixStorage& storage = session.storage();
        return work_telling_phase(run, work, storage, {storage, on.queue, on.progress, on.log, on.interrupted});
      },
      [](const JobResult& done) { return done.summary; });
  watched.write_reports(fmt::format("'{}' is complete", run.file), result.notices,
                        [&] { return result.stats(watched.log(), started_s, session.backend_name()); });
  return 0;
}

void tell_job_place(const std::string& output, const RunReports& reports) {
  reports.print(fmt::format("runs and journal are in '{}'; after an interruption: ecosort resume {}",
                            demsort_inplace::JobPaths(output).directory, output));
  reports.print(demsort_inplace::prepare::journal_notice(output));
}

void tell_waits(job::Session& session, const RunReports& reports) {
  session.storage().on_wait_for_space([reports](const io::File& file) {
    reports.print(
        fmt::format("no space for '{}': waiting for the file system to give back what was cut off or removed", file.path()));
  });
}

void open_queue(job::Session& session, const std::string& io, unsigned depth, const RunReports& reports) {
  session.open_queue(io, depth);
  reports.print(session.notice());
}

}  // namespace ecosort::cli
