// `ecosort sort` and `ecosort plan sort`.
#include <fmt/format.h>

#include <csignal>

#include "base/errors.h"
#include "cli/commands.h"
#include "cli/option_table.h"
#include "cli/progress_line.h"
#include "cli/report.h"
#include "cli/signals.h"
#include "cli/sort_options.h"
#include "io/backends.h"
#include "io/posix_storage.h"

namespace ecosort::cli {

namespace {

io::Backend open_backend(const SortOptions& options, const plan::Plan& plan) {
  return io::make_queue(io::parse_backend(options.io), plan.read_depth + plan.write_depth + 4);
}

void print_notice(const SortOptions& options, const std::string& notice) {
  if (!options.quiet && !notice.empty()) fmt::print(stderr, "ecosort: {}\n", notice);
}

}  // namespace

int run_sort(const Words& words) {
  const double started_s = pipeline::monotonic_seconds();
  const SortOptions options = parse_sort_options("sort", words);
  if (options.help) {
    fmt::print("{}", help_text(command_table("sort")));
    return 0;
  }
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is a write error like any other
  io::PosixStorage storage;
  ResolvedSort resolved = resolve_sort(options, storage);
  for (const std::string& notice : resolved.notices) print_notice(options, notice);
  const io::Backend backend = open_backend(options, resolved.job.plan);
  print_notice(options, backend.notice);

  pipeline::PhaseLog log(options.events);
  pipeline::Progress progress;
  pipeline::SortReport report;
  {
    const SignalGuard signals(*backend.queue);
    const ProgressLine line(progress, progress_mode(options.progress));
    log.event("begin", "total");
    report = pipeline::sort(resolved.job, storage, *backend.queue, progress, log, signals.received());
    log.event("end", "total");
  }
  print_notice(options, report.notice);
  if (!options.stats.empty())
    write_text_file(options.stats,
                    stats_json(report, log, process_usage(started_s), backend.queue->backend_name()).dump(2) + "\n");
  return 0;
}

int run_plan(const Words& words) {
  if (!words.empty() && words.front() == "--help") {
    fmt::print("{}", help_text(command_table("plan")));
    return 0;
  }
  if (words.empty() || words.front() != "sort")
    throw UsageError("plan: say what to plan, such as: ecosort plan sort INPUT -o OUTPUT");
  const SortOptions options = parse_sort_options("plan", Words(words.begin() + 1, words.end()));
  if (options.help) {
    fmt::print("{}", help_text(command_table("plan")));
    return 0;
  }
  io::PosixStorage storage;
  const ResolvedSort resolved = resolve_sort(options, storage);
  const io::Backend backend = open_backend(options, resolved.job.plan);
  if (options.json)
    fmt::print("{}\n", plan_json(resolved.job.plan).dump(2));
  else
    fmt::print("{}  output              {}\n",
               plan_text(resolved.job.plan, resolved.machine, resolved.job.directories, backend.queue->backend_name()),
               options.output == "-" ? "standard output"
               : resolved.output_has_no_temporary_name
                   ? "an unnamed file until it is complete"
                   : "a temporary name (.ecosort-*.tmp) until it is complete: the file system has no unnamed files");
  return 0;
}

}  // namespace ecosort::cli
