// `ecosort partition`: cuts a range of a file into slices at splitters, in one pass.
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "base/base64.h"
#include "base/errors.h"
#include "base/json.h"
#include "base/open_files.h"
#include "base/threads.h"
#include "cli/commands.h"
#include "cli/node_words.h"
#include "cli/option_table.h"
#include "cli/report.h"
#include "cli/report_files.h"
#include "cli/run_job.h"
#include "cli/telling_phase.h"
#include "cli/watched_run.h"
#include "cli/write_signals.h"
#include "job/prepare_partition.h"
#include "job/prepare_rows_range.h"
#include "job/session.h"

namespace ecosort::cli {
namespace {

struct PartitionOptions {
  job::PartitionSpec spec;
  NodeWords words;
};

bool may_become_file(const std::string& path) {
  std::error_code none;
  if (path == "-" || path.starts_with("/dev/") || path.starts_with("/proc/")) return false;
  return !std::filesystem::exists(path, none) || std::filesystem::is_regular_file(path, none);
}

PartitionOptions parse_partition(const Words& words) {
  PartitionOptions options;
  options.words = read_node_words("partition", words);
  const GivenWords& own = options.words.own;
  if (own.asks_for_help) return options;
  job::PartitionSpec& spec = options.spec;
  spec.splitters = own.word("--splitters");
  spec.report = own.word("--report");
  spec.logs = {options.words.line.reports.events, options.words.line.reports.trace};
  if (own.has("--prefix")) spec.prefix = own.word("--prefix");
  spec.is_sorted = own.has("--sort");
  spec.overwrites = own.has("--overwrite");
  spec.source = own.number("--source");
  spec.range = options.words.range();
  if (spec.splitters.empty())
    throw UsageError("partition: no splitters; name a file of `ecosort sample --merge` with --splitters FILE");
  if (spec.report.empty()) throw UsageError("partition: no report; name a file for it with --report FILE");
  if (!may_become_file(spec.report)) throw UsageError(fmt::format("--report '{}' is no file; name one", spec.report));
  return options;
}

Json slices_json(const engine::partition::PartitionReport& report) {
  Json slices = Json::array();
  for (std::size_t part = 0; part < report.slices.size(); ++part) {
    const engine::partition::Slice& slice = report.slices[part];
    Json files = Json::array();
    std::uint64_t bytes = 0;
    for (const engine::partition::SliceFile& file : slice.files) {
      files.push_back({{"file", file.path}, {"bytes", file.bytes}});
      bytes += file.bytes;
    }
    Json json{{"part", part},    {"file", slice.files.front().path}, {"rows", slice.hash.count},
              {"bytes", bytes},  {"hash", slice.hash.to_hex()},      {"first", nullptr},
              {"last", nullptr}, {"files", std::move(files)}};
    if (slice.hash.count > 0) {
      json["first"] = to_base64(slice.first);
      json["last"] = to_base64(slice.last);
    }
    slices.push_back(std::move(json));
  }
  return slices;
}

// Holds what surrounds the work, whatever the rows are.
struct Surroundings {
  job::Session& session;
  const std::string& io;
  RunReports reports;
  std::uint64_t memory_bytes = 0;
  unsigned threads = 0;
  job::FileRange range;
  unsigned queue_depth = 0;
  double started_s = 0;
};

Json report_json(const engine::partition::PartitionReport& report, const PartitionOptions& options, const Surroundings& around,
                 const engine::PhaseLog& log) {
  const ProcessUsage usage = process_usage(around.started_s);
  return {{"schema", "ecosort.partition/1"},
          {"command", "partition"},
          {"format", name_of(options.words.format())},
          {"source", options.spec.source},
          {"from", around.range.from},
          {"to", around.range.to},
          {"rows", report.hash.count},
          {"bytes", report.bytes},
          {"hash", report.hash.to_hex()},
          {"top_bytes", report.top_bytes},
          {"slices", slices_json(report)},
          {"bytes_read", report.traffic.bytes_read},
          {"bytes_written", report.traffic.bytes_written},
          {"requests", report.traffic.requests},
          {"phases", phases_json(log)},
          {"wall_s", usage.wall_s},
          {"cpu_user_s", usage.cpu_user_s},
          {"cpu_system_s", usage.cpu_system_s},
          {"io_idle_s", static_cast<double>(report.traffic.idle.count()) * 1e-9},
          {"peak_rss_bytes", usage.peak_rss_bytes},
          {"peak_counted_memory_bytes", report.peak_memory_bytes},
          {"io_backend", around.session.backend_name()},
          {"threads", around.threads},
          {"memory_limit_bytes", around.memory_bytes},
          {"version", ECOSORT_VERSION}};
}

// `work(environment)` partitions.
template <class Work>
int run_and_report(const PartitionOptions& options, const engine::partition::PartitionTerms& terms, const Surroundings& around,
                   const Work& work) {
  job::Session& session = around.session;
  open_queue(session, around.io, around.queue_depth, around.reports);
  check_threads_can_start(around.threads + 1, "--threads");
  WatchedRun run(around.reports);
  const engine::partition::PartitionReport report = run.watch(
      session,
      [&](const engine::Environment& environment) {
        return telling_phase(environment.progress, [&] { return work(environment); });
      },
      [](const engine::partition::PartitionReport& done) {
        return JobSummary{"cut", done.bytes, fmt::format("{} rows into {} slices", done.hash.count, done.slices.size())};
      });
  around.reports.print(report.notice);
  const Json json = report_json(report, options, around, run.log());
  job::remove_replaced(options.spec, terms.paths, report.slices, session.storage());
  job::publish_text(session.storage(), options.spec.report, json.text(2) + "\n");
  return 0;
}

RunReports reports_of(RunReports asked, const std::string& output) {
  asked.stats.clear();
  asked.output = output;
  return asked;
}

int partition_records(PartitionOptions& options, double started_s) {
  const CommandLine& rows = options.words.line;
  check_one_input("partition", rows.request.inputs);
  options.spec.directory = rows.request.place.output;
  job::Session session;
  engine::partition::PartitionRecordsJob job = job::prepare_partition_of_records(options.spec, rows.request, session.storage());
  check_report_files({"", rows.reports.events, rows.reports.trace, options.spec.report}, job.inputs, {"-"});
  const planner::RecordPlan& plan = job.plan.plan;
  const std::uint64_t begin = job.inputs.front().begin();
  const Surroundings around{.session = session,
                            .io = rows.request.means.io,
                            .reports = reports_of(rows.reports, rows.request.place.output),
                            .memory_bytes = plan.wanted.memory_bytes,
                            .threads = plan.wanted.threads,
                            .range = {begin, begin + plan.wanted.input_records * records::size_of(rows.records())},
                            .queue_depth = plan.read_depth + plan.write_depth + 4,
                            .started_s = started_s};
  return run_and_report(options, job.terms, around, [&](const engine::Environment& environment) {
    return engine::partition::partition_records(job, environment);
  });
}

int partition_rows(PartitionOptions& options, double started_s) {
  const CommandLine& rows = options.words.line;
  job::RowTerms terms = row_terms_of("partition", rows);
  check_one_input("partition", rows.request.inputs);
  options.spec.directory = rows.request.place.output;
  const std::uint64_t memory_bytes = terms.memory_bytes;
  const unsigned threads = terms.threads;
  job::Session session;
  engine::partition::PartitionRowsJob job = job::prepare_partition_of_rows(options.spec, std::move(terms), session.storage());
  check_report_files({"", rows.reports.events, rows.reports.trace, options.spec.report}, job.inputs, {"-"});
  const Surroundings around{.session = session,
                            .io = rows.request.means.io,
                            .reports = reports_of(rows.reports, rows.request.place.output),
                            .memory_bytes = memory_bytes,
                            .threads = threads,
                            .range = {job.begin, job.inputs.front().end_offset()},
                            .queue_depth = job.plan.lines.read_depth + job.plan.lines.write_depth + 4,
                            .started_s = started_s};
  return run_and_report(options, job.terms, around, [&](const engine::Environment& environment) {
    return engine::partition::partition_rows(job, environment);
  });
}

}  // namespace

int run_partition(const Words& words) {
  const double started_s = engine::monotonic_seconds();
  PartitionOptions options = parse_partition(words);
  if (options.words.own.asks_for_help) return print_help(command_table("partition"));
  raise_open_files();
  ignore_write_signals();
  return options.words.format() == Format::records ? partition_records(options, started_s) : partition_rows(options, started_s);
}

}  // namespace ecosort::cli
