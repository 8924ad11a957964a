#include "cli/run_job.h"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>

#include "base/errors.h"
#include "cli/end_at_once.h"
#include "cli/progress_line.h"
#include "cli/report.h"
#include "cli/say.h"
#include "cli/signals.h"
#include "demsort_inplace/keep_runs.h"

namespace ecosort::cli {

namespace {

using Work = std::function<pipeline::SortReport(const inplace::Environment&)>;

const char* advice(int error_number) { return error_number == ENOSPC || error_number == EDQUOT ? "; make room there" : ""; }

// What can be done after a failure: as long as there is a job, nothing is lost.
std::string way_on(const JobRun& run, io::PosixStorage& storage) {
  if (!storage.exists(inplace::JobPaths(run.file).directory)) return "";
  return fmt::format("; no record is lost; go on with: ecosort resume {}", run.file);
}

pipeline::SortReport work_telling_phase(const JobRun& run, const Work& work, io::PosixStorage& storage,
                                        const inplace::Environment& environment) {
  const auto in_phase = [&](const std::string& line) {
    return fmt::format("{}: {}", pipeline::to_string(environment.progress.phase()), line);
  };
  try {
    return work(environment);
  } catch (const io::QueueBroken& broken) {
    end_at_once(environment.progress, broken, way_on(run, storage));
  } catch (const inplace::InputChanged& changed) {  // has its own way out
    throw IoError(in_phase(changed.what()));
  } catch (const NameError& error) {
    throw IoError(in_phase(error.what() + way_on(run, storage)));
  } catch (const IoError& error) {
    throw IoError(in_phase(error.what() + std::string(advice(error.error_number())) + way_on(run, storage)),
                  error.error_number());
  } catch (const VerificationError& error) {
    throw VerificationError(error.what() + way_on(run, storage));
  } catch (const Interrupted&) {
    if (const std::string way = way_on(run, storage); !way.empty())
      say_line(fmt::format("ecosort: stopped at a checkpoint{}", way));
    throw;
  }
}

void write_reports(const JobRun& run, const pipeline::SortReport& report, const pipeline::PhaseLog& log, double started_s,
                   const io::Queue& queue) {
  try {
    log.check_written();
    if (!run.stats.empty())
      write_text_file(run.stats, stats_json(report, log, process_usage(started_s), queue.backend_name()).dump(2) + "\n");
  } catch (const IoError& error) {
    throw IoError(fmt::format("{} ('{}' is complete)", error.what(), run.file), error.error_number());
  }
}

}  // namespace

int run_job(const JobRun& run, io::PosixStorage& storage, io::Queue& queue, double started_s, const Work& work) {
  pipeline::PhaseLog log(run.events);
  pipeline::Progress progress;
  pipeline::SortReport report;
  {
    const SignalGuard signals(queue);
    const ProgressLine line(progress, run.quiet && run.progress == "auto" ? ProgressMode::none : progress_mode(run.progress));
    log.event("begin", "total");
    report = work_telling_phase(run, work, storage, {storage, queue, progress, log, signals.received()});
    log.event("end", "total");
  }
  print_notice(run.quiet, report.notice);
  write_reports(run, report, log, started_s, queue);
  return 0;
}

void print_notice(bool quiet, const std::string& notice) {
  if (!quiet && !notice.empty()) say_line(fmt::format("ecosort: {}", notice));
}

void ignore_write_signals() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace ecosort::cli
