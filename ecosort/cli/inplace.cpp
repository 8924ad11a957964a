// `ecosort inplace`, `ecosort resume` and `ecosort plan inplace`.
#include "cli/inplace.h"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <functional>

#include "base/errors.h"
#include "base/size_text.h"
#include "cli/end_at_once.h"
#include "cli/progress_line.h"
#include "cli/report.h"
#include "cli/say.h"
#include "cli/signals.h"
#include "cli/sort_places.h"
#include "demsort_inplace/inplace_sort.h"
#include "io/backends.h"

namespace ecosort::cli {

namespace {

constexpr unsigned queue_depth = 40;  // a plan's reads and writes, and a few

using Work = std::function<pipeline::SortReport(inplace::Environment)>;

void print_notice(const InPlaceOptions& options, const std::string& notice) {
  if (!options.quiet && !notice.empty()) say(fmt::format("ecosort: {}\n", notice));
}

const char* advice(int error_number) { return error_number == ENOSPC || error_number == EDQUOT ? "; make room there" : ""; }

// What can be done after a failure: as long as there is a job, nothing is lost.
std::string way_on(const InPlaceOptions& options, io::PosixStorage& storage) {
  if (!storage.exists(inplace::JobPaths(options.file).directory)) return "";
  return fmt::format("; no record is lost; go on with: ecosort resume {}", options.file);
}

pipeline::SortReport work_telling_phase(const InPlaceOptions& options, const Work& work, io::PosixStorage& storage,
                                        inplace::Environment environment) {
  try {
    return work(environment);
  } catch (const io::QueueBroken& broken) {
    end_at_once(environment.progress, broken, way_on(options, storage));
  } catch (const IoError& error) {
    throw IoError(fmt::format("{}: {}{}{}", pipeline::to_string(environment.progress.phase()), error.what(),
                              advice(error.error_number()), way_on(options, storage)),
                  error.error_number());
  } catch (const VerificationError& error) {
    throw VerificationError(error.what() + way_on(options, storage));
  } catch (const Interrupted&) {
    if (const std::string way = way_on(options, storage); !way.empty())
      say(fmt::format("ecosort: stopped at a checkpoint{}\n", way));
    throw;
  }
}

void write_stats(const InPlaceOptions& options, const pipeline::SortReport& report, const pipeline::PhaseLog& log,
                 double started_s, const io::Queue& queue) {
  if (options.stats.empty()) return;
  try {
    write_text_file(options.stats, stats_json(report, log, process_usage(started_s), queue.backend_name()).dump(2) + "\n");
  } catch (const IoError& error) {
    throw IoError(fmt::format("{} ('{}' is complete)", error.what(), options.file), error.error_number());
  }
}

void check_reports(const InPlaceOptions& options) {
  SortOptions named;
  named.stats = options.stats;
  named.events = options.events;
  named.output = options.file;
  check_report_files(named, {});
}

// Everything around the work itself: signals, progress, events, stats.
int run_work(const InPlaceOptions& options, io::PosixStorage& storage, io::Queue& queue, double started_s, const Work& work) {
  pipeline::PhaseLog log(options.events);
  pipeline::Progress progress;
  pipeline::SortReport report;
  {
    const SignalGuard signals(queue);
    const ProgressLine line(progress,
                            options.quiet && options.progress == "auto" ? ProgressMode::none : progress_mode(options.progress));
    log.event("begin", "total");
    report = work_telling_phase(options, work, storage, {storage, queue, progress, log, signals.received()});
    log.event("end", "total");
  }
  print_notice(options, report.notice);
  write_stats(options, report, log, started_s, queue);
  return 0;
}

void ignore_signals() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

// --- resume

const char* phase_of(const inplace::JobStatus& status) {
  if (status.kind == inplace::JobStatus::Kind::not_begun) return "not begun";
  if (status.kind == inplace::JobStatus::Kind::complete) return "complete, to be cleaned up";
  if (status.is_abandoned()) return "being abandoned";
  return status.records_formed() < status.contents->header.layout.records ? "run formation" : "merge";
}

std::string status_text(const std::string& path, const inplace::JobStatus& status) {
  std::string text = fmt::format("{}: {}\n", path, phase_of(status));
  if (!status.contents) return text;
  const inplace::JobHeader& header = status.contents->header;
  const inplace::Layout& layout = header.layout;
  const auto share = [&](std::uint64_t records) {
    return fmt::format("{} of {} ({:.1f} %)", records, layout.records,
                       100.0 * static_cast<double>(records) / static_cast<double>(layout.records));
  };
  text += fmt::format("  records of {} bytes in runs     {}\n", layout.record_size, share(status.records_formed()));
  text += fmt::format("  records in the output          {}\n", share(status.records_merged()));
  const std::uint64_t left = (layout.records - status.records_formed()) * 2 + status.records_formed() - status.records_merged();
  if (!status.is_abandoned() && status.kind == inplace::JobStatus::Kind::under_way)
    text += fmt::format("  left to read and write         {} each\n", format_bytes(left * layout.record_size));
  return text + fmt::format("  memory it was planned with     {}\n", format_bytes(header.memory_bytes));
}

// The job's directory may be named as well.
void accept_directory(InPlaceOptions& options) {
  while (options.file.size() > 1 && options.file.ends_with('/')) options.file.pop_back();
  constexpr std::string_view ending = ".ecosort";
  if (options.file.ends_with(ending)) options.file.resize(options.file.size() - ending.size());
}

int discard_beginning(const InPlaceOptions& options, inplace::JobStatus status, io::PosixStorage& storage) {
  inplace::discard(options.file, std::move(status), storage);
  const std::string what = fmt::format(
      "'{}' is whole: nothing of it had been changed, or everything was done; the job directory was removed", options.file);
  if (!options.abandon) throw UsageError(fmt::format("{}; to sort it: ecosort inplace {}", what, options.file));
  print_notice(options, what);
  return 0;
}

plan::Plan plan_for(const InPlaceOptions& options, const inplace::JobHeader& header) {
  const std::uint64_t memory = options.memory.empty() ? header.memory_bytes : parse_bytes(options.memory, "--memory");
  check_open_files(header.layout.runs());
  return inplace::engine_plan(header, memory, options.threads != 0 ? options.threads : plan::read_machine().cpus);
}

}  // namespace

int run_inplace(const Words& words) {
  const double started_s = pipeline::monotonic_seconds();
  const InPlaceOptions options = parse_inplace_options("inplace", words);
  if (options.help) {
    print_out(help_text(command_table("inplace")));
    return 0;
  }
  ignore_signals();
  io::PosixStorage storage;
  ResolvedInPlace resolved = resolve_inplace(options, storage);
  check_reports(options);
  if (resolved.wanted.input_records == 0) return 0;
  const inplace::SpacePlan& plan = require_space(options, resolved);
  const io::Backend backend = io::make_queue(io::parse_backend(options.io), queue_depth);
  print_notice(options, backend.notice);
  const inplace::JobHeader header{.job = inplace::fresh_job_number(),
                                  .format = resolved.wanted.format,
                                  .layout = plan.layout,
                                  .memory_bytes = resolved.wanted.memory_bytes};
  return run_work(options, storage, *backend.queue, started_s, [&](inplace::Environment environment) {
    return inplace::start(options.file, std::move(resolved.input), header, plan.engine, environment);
  });
}

int run_resume(const Words& words) {
  const double started_s = pipeline::monotonic_seconds();
  InPlaceOptions options = parse_inplace_options("resume", words);
  if (options.help) {
    print_out(help_text(command_table("resume")));
    return 0;
  }
  ignore_signals();
  accept_directory(options);
  io::PosixStorage storage;
  const io::Backend backend = io::make_queue(io::parse_backend(options.io), queue_depth);
  print_notice(options, backend.notice);
  inplace::JobStatus status = inplace::examine(options.file, storage, *backend.queue);
  if (status.kind == inplace::JobStatus::Kind::none)
    throw UsageError(
        fmt::format("no interrupted job of '{}': there is no '{}'", options.file, inplace::JobPaths(options.file).directory));
  if (options.status) {
    print_out(status_text(options.file, status));
    return 0;
  }
  if (status.kind == inplace::JobStatus::Kind::not_begun) return discard_beginning(options, std::move(status), storage);
  check_reports(options);
  const bool abandons = options.abandon || status.is_abandoned();
  if (abandons && !options.abandon)
    print_notice(options, fmt::format("the job of '{}' was abandoned; that is completed", options.file));
  const plan::Plan plan = plan_for(options, status.contents->header);
  return run_work(options, storage, *backend.queue, started_s, [&](inplace::Environment environment) {
    return abandons ? inplace::abandon(options.file, std::move(status), plan, environment)
                    : inplace::resume(options.file, std::move(status), plan, environment);
  });
}

int plan_inplace(const Words& words) {
  const InPlaceOptions options = parse_inplace_options("plan", words);
  if (options.help) {
    print_out(help_text(command_table("plan")));
    return 0;
  }
  io::PosixStorage storage;
  const ResolvedInPlace resolved = resolve_inplace(options, storage);
  if (resolved.wanted.input_records > 0) (void)require_space(options, resolved);
  print_out(options.json ? inplace_plan_json(resolved) : inplace_plan_text(options, resolved));
  return 0;
}

}  // namespace ecosort::cli
