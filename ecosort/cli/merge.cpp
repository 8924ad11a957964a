// `ecosort merge`: sorted files of records into one, or with --lines those of text lines.
#include <fmt/format.h>

#include "base/errors.h"
#include "base/open_files.h"
#include "base/threads.h"
#include "cli/commands.h"
#include "cli/end_at_once.h"
#include "cli/option_table.h"
#include "cli/report.h"
#include "cli/report_files.h"
#include "cli/run_job.h"
#include "cli/say.h"
#include "cli/sort_options.h"
#include "cli/watched_run.h"
#include "io/backends.h"
#include "io/reactor.h"
#include "job/prepare_merge.h"

namespace ecosort::cli {
namespace {

engine::WorkReport merge_telling_phase(job::PreparedMerge& prepared, io::Storage& storage, io::Queue& queue,
                                             engine::Progress& progress, engine::PhaseLog& log,
                                             const std::atomic<int>& interrupted) {
  try {
    return engine::merge_files(prepared.job, {storage, queue, progress, log, interrupted});
  } catch (const io::QueueBroken& broken) {
    end_at_once(progress, broken);
  } catch (const NotSorted& unsorted) {
    throw NotSorted(
        fmt::format("{}; sort it first (ecosort sort), or name the keys by which it is sorted with --key", unsorted.what()),
        unsorted.record);
  } catch (const NameError& error) {
    throw IoError(fmt::format("{}: {}", engine::to_string(progress.phase()), error.what()));
  } catch (const IoError& error) {
    throw IoError(fmt::format("{}: {}", engine::to_string(progress.phase()), error.what()), error.error_number());
  }
}

nlohmann::ordered_json stats(const engine::WorkReport& report, const engine::MergeFilesJob& job,
                             const engine::PhaseLog& log, const ProcessUsage& usage, const std::string& backend) {
  const std::uint64_t size = job.format.record_size;
  return {{"schema", "ecosort.merge-stats/1"},
          {"records", report.records},
          {"records_dropped", report.dropped},
          {"record_size_bytes", size},
          {"input_bytes", report.records * size},
          {"output_bytes", (report.records - report.dropped) * size},
          {"bytes_read", report.traffic.bytes_read},
          {"bytes_written", report.traffic.bytes_written},
          {"requests", report.traffic.requests},
          {"intermediate_merges", report.merges},
          {"files_at_a_time", job.plan.fan_in},
          {"phases", phases_json(log)},
          {"wall_s", usage.wall_s},
          {"cpu_user_s", usage.cpu_user_s},
          {"cpu_system_s", usage.cpu_system_s},
          {"io_idle_s", static_cast<double>(report.traffic.idle.count()) * 1e-9},
          {"peak_rss_bytes", usage.peak_rss_bytes},
          {"peak_counted_memory_bytes", report.peak_memory_bytes},
          {"peak_temp_bytes", report.peak_temp_bytes},
          {"hash", report.hash.to_hex()},
          {"io_backend", backend},
          {"threads", job.threads},
          {"memory_limit_bytes", job.memory_bytes},
          {"version", ECOSORT_VERSION}};
}

int merge_records(const SortOptions& options, double started_s) {
  io::PosixStorage storage;
  tell_waits(storage, options.quiet);
  raise_open_files();
  job::PreparedMerge prepared = job::prepare_merge(spec_of(options), tuning_of(options), storage);
  check_report_files({options.stats, options.events, ""}, prepared.job.inputs, options.output);
  const engine::MergeFilesJob& job = prepared.job;
  const io::Backend backend = io::make_queue(io::parse_backend(options.io), job.plan.read_depth + job.plan.write_depth + 4);
  print_notice(options.quiet, backend.notice);
  check_threads_can_start(job.threads + 1);
  WatchedRun run({options.stats, options.events, options.progress, options.quiet, options.output});
  const auto sum_up = [&](const engine::WorkReport& report) {
    const std::string dropped = report.dropped == 0 ? "" : fmt::format(", {} of them dropped", report.dropped);
    return JobSummary{"merged", report.records * job.format.record_size, records_text(report.records) + dropped};
  };
  const engine::WorkReport report = run.watch(
      *backend.queue,
      [&](auto& progress, auto& log, const auto& interrupted) {
        return merge_telling_phase(prepared, storage, *backend.queue, progress, log, interrupted);
      },
      sum_up);
  for (const std::string& notice : report.notices) print_notice(options.quiet, notice);
  run.write_reports("the merged output is complete",
                    [&] { return stats(report, job, run.log(), process_usage(started_s), backend.queue->backend_name()); });
  return 0;
}

}  // namespace

int run_merge(const Words& words) {
  const double started_s = engine::monotonic_seconds();
  if (!words.empty() && words.front() == "--lines") {
    Words of_lines{"--merge"};
    of_lines.insert(of_lines.end(), words.begin() + 1, words.end());
    return run_lines(of_lines);
  }
  const SortOptions options = parse_sort_options("merge", words);
  if (options.help) {
    print_out(help_text(command_table("merge")));
    return 0;
  }
  ignore_write_signals();
  return merge_records(options, started_s);
}

}  // namespace ecosort::cli
