#include "cli/resumable_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/errors.h"
#include "base/open_files.h"
#include "base/size_text.h"
#include "base/threads.h"
#include "cli/lines_report.h"
#include "cli/resumable_ground.h"
#include "cli/run_job.h"
#include "demsort_inplace/input_identity.h"
#include "demsort_inplace/line_runs.h"
#include "demsort_inplace/preflight.h"
#include "demsort_inplace/resumable_lines.h"
#include "formats/lines/quoted.h"
#include "io/backends.h"
#include "io/direct_io.h"
#include "job/prepare_lines.h"
#include "plan/plan.h"
#include "run/run_block.h"

namespace ecosort::cli {

namespace {

using lines::LinesOptions;

void check_options(const LinesOptions& options) {
  if (options.check != lines::Check::no) throw UsageError("--resumable: -c and -C sort nothing; leave it out");
  if (options.debug) throw UsageError("--debug goes without --resumable");
  if (options.merge)
    throw UsageError(
        "-m goes without --resumable: what is sorted is merged in one step; sort it without -m to be able to resume");
  if (!options.compress_program.empty()) throw UsageError("--compress-program goes without --resumable");
  if (options.verify == "reread") throw UsageError("--verify=reread goes without --resumable");
  if (options.compression.decompress) throw UsageError("--decompress=auto goes without --resumable: decompress the input first");
  if (options.compression.output != "none" || options.compression.level)
    throw UsageError("--compress-output goes without --resumable: compress the output afterwards");
  if (!options.temp.empty())
    throw UsageError("--resumable keeps its runs beside the output, in OUTPUT.ecosort; leave -T out, or name an output there");
  if (options.output.empty())
    throw UsageError("--resumable needs an output with a name, for its job directory; name it with -o FILE");
  if (std::ranges::find(options.inputs, "-") != options.inputs.end())
    throw UsageError("--resumable: standard input cannot be read again after a crash; name the input");
}

void check_inputs(const lines::LinesJob& job) {
  for (const lines::LineInput& input : job.inputs) {
    if (!input.file)
      throw UsageError(fmt::format("--resumable: {} inputs are more than may be open at a time (ulimit -n)", job.inputs.size()));
    check_regular(*input.file);
  }
}

// The plan of the job, with these blocks or any.
lines::LinePlan kept_plan(const lines::LinePlan& plan, std::size_t block_bytes) {
  if (const auto kept = lines::plan_for_kept_runs(plan, block_bytes)) return *kept;
  lines::LinePlan more = plan;
  do more.memory_bytes += more.memory_bytes / 4;
  while (!lines::plan_for_kept_runs(more, block_bytes));
  throw UsageError(fmt::format("{} of memory are too little for this job, whose runs have blocks of {}; try --memory {}KiB",
                               format_bytes(plan.memory_bytes), format_bytes(block_bytes), (more.memory_bytes >> 10U) + 1));
}

inplace::JobHeader header_of(const LinesOptions& options, const Words& words, const lines::LinesJob& job, std::uint64_t unit) {
  inplace::JobHeader header{
      .job = run::random_job(),
      .memory_bytes = job.plan.memory_bytes + job.header_bytes,
      .threads = static_cast<std::uint32_t>(std::min<std::uint64_t>(options.parallel, planner::most_threads)),
      .kind = inplace::JobHeader::Kind::resumable_lines};
  for (const lines::LineInput& input : job.inputs) header.inputs.push_back(inplace::identity_of(*input.file, input.opened));
  header.layout.unit = unit;
  header.layout.keeps_runs = true;
  header.layout.interval_bytes = round_up(inplace::line_interval_bytes(inplace::most_output_bytes(header)), unit);
  header.lines = inplace::LineTerms{.words = words,
                                    .rules = lines::posix_rules_of_environment(),
                                    .salt = options.order.salt,
                                    .block_bytes = job.plan.block_bytes,
                                    .most_merged = inplace::most_merged_runs(job.plan)};
  return header;
}

void require_space(ResolvedLines& resolved, const std::string& directory, io::PosixStorage& storage) {
  const std::uint64_t need = resolved.space.need_bytes();
  resolved.free_bytes = storage.settled_free_bytes(directory, need);
  if (resolved.free_bytes < need) refuse_space(directory, need, resolved.free_bytes);
  check_file_size_limit(inplace::most_output_bytes(resolved.header));
}

}  // namespace

std::optional<ResolvedLines> resolve_lines(const LinesOptions& options, const Words& words, io::PosixStorage& storage) {
  check_options(options);
  raise_open_files();
  ResolvedLines resolved{job::make_lines_job(options, storage, job::SpecialOutput::refused), {}, {}, {}};
  check_inputs(resolved.job);
  resolved.output = resolved.job.output;
  check_no_job(resolved.output, storage);
  if (job::known_bytes(resolved.job.inputs) == 0) return std::nullopt;
  const std::string directory = inplace::JobPaths(resolved.output).parent;
  check_outlives_crash(directory);
  const std::uint64_t unit = std::max(direct_unit(directory, storage), inplace::block_bytes(directory));
  resolved.job.plan = kept_plan(resolved.job.plan, 0);
  resolved.job.plan = kept_plan(resolved.job.plan, round_up(resolved.job.plan.block_bytes, unit));
  resolved.header = header_of(options, words, resolved.job, unit);
  resolved.space = inplace::lines_space(resolved.header, resolved.job.plan, inplace::held_bytes(directory));
  require_space(resolved, directory, storage);
  return resolved;
}

namespace {

JobResult result_of(lines::LinesReport report, const lines::LinesJob& job) {
  JobResult result{summary_of(report), report.notices, {}};
  result.stats = [report = std::move(report), &job](const engine::PhaseLog& log, double started_s, const std::string& backend) {
    return lines_stats_json(report, log, process_usage(started_s), job, backend);
  };
  return result;
}

// Of a job, for its figures: what it works with goes into the job.
lines::LinesJob figures_of(const lines::LinesJob& job) {
  lines::LinesJob figures;
  figures.plan = job.plan;
  figures.header_bytes = job.header_bytes;
  return figures;
}

}  // namespace

std::optional<int> run_resumable_lines(const LinesOptions& options, const Words& words, const lines::FirstLook& look,
                                       double started_s) {
  io::PosixStorage storage;
  tell_waits(storage, options.quiet);
  std::optional<ResolvedLines> resolved = resolve_lines(options, words, storage);
  if (!resolved) return std::nullopt;
  resolved->job.look = look;
  const io::Backend backend = io::make_queue(io::parse_backend(options.io), job_queue_depth);
  print_notice(options.quiet, backend.notice);
  check_threads_can_start(resolved->job.plan.threads + 1, "--parallel");
  print_notice(options.quiet, fmt::format("runs and journal are in '{}'; after an interruption: ecosort resume {}",
                                          inplace::JobPaths(resolved->output).directory, resolved->output));
  print_notice(options.quiet, journal_notice(resolved->output));
  const JobRun run{resolved->output, {options.stats, options.events, options.progress, options.quiet}};
  const lines::LinesJob figures = figures_of(resolved->job);
  return run_job(run, storage, *backend.queue, started_s, [&](const inplace::Environment& environment) {
    return result_of(inplace::start_resumable_lines(resolved->output, std::move(resolved->job), resolved->header, environment),
                     figures);
  });
}

namespace {

// The command's words once more, whatever the environment says about words by now; the keys of -R are what they were. The
// inputs are the journal's.
LinesOptions options_of_job(const InPlaceOptions& given, const inplace::JobHeader& header) {
  LinesOptions options = lines::parse_lines_words(header.lines->words, header.lines->rules);
  options.order.salt = header.lines->salt;
  options.output = given.run.file;
  options.memory = given.memory;
  options.memory_percent = 0;
  options.memory_bytes = given.memory.empty() ? header.memory_bytes : 0;
  options.parallel = given.threads != 0 ? given.threads : header.threads;
  return options;
}

lines::LinesJob job_of(const InPlaceOptions& given, const inplace::JobHeader& header, io::PosixStorage& storage) {
  raise_open_files();
  const LinesOptions options = options_of_job(given, header);
  lines::LinesJob job = job::make_lines_job(options, storage, job::SpecialOutput::refused, inplace::most_output_bytes(header));
  job.plan = kept_plan(job.plan, header.lines->block_bytes);
  return job;
}

}  // namespace

int resume_lines_job(const InPlaceOptions& given, inplace::JobStatus status, io::PosixStorage& storage, io::Queue& queue,
                     double started_s, bool abandons) {
  const std::string& file = given.run.file;
  const lines::LinesJob figures = abandons ? lines::LinesJob{} : figures_of(job_of(given, status.contents->header, storage));
  if (!abandons) check_threads_can_start(figures.plan.threads + 1);
  if (given.trust_drive && status.records_merged() > 0)
    print_notice(given.run.reports.quiet,
                 fmt::format("--trust-drive: the {} lines that the output holds are not read again", status.records_merged()));
  return run_job(given.run, storage, queue, started_s, [&](inplace::Environment environment) {
    environment.trusts_drive = given.trust_drive;
    if (abandons) return result_of(inplace::abandon_lines(file, std::move(status), environment), figures);
    lines::LinesJob job = job_of(given, status.contents->header, storage);
    return result_of(inplace::resume_lines(file, std::move(status), std::move(job), environment), figures);
  });
}

std::string lines_status_text(const inplace::JobStatus& status) {
  const inplace::JournalContents& contents = *status.contents;
  std::string text = "  job                            resumable sort of the lines of";
  for (const inplace::InputIdentity& input : contents.header.inputs) text += fmt::format(" '{}'", input.path);
  text += '\n';
  if (status.is_abandoned()) return text;
  const std::uint64_t all = inplace::most_output_bytes(contents.header) - contents.header.inputs.size();
  const std::uint64_t in_runs =
      contents.state ? all : std::min(all, inplace::bytes_before(contents.header.inputs, inplace::next_place(contents.runs, {})));
  const std::uint64_t in_output = contents.state && contents.state->lines ? contents.state->lines->bytes : 0;
  const auto share = [](std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 100.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  };
  text += fmt::format("  bytes of the inputs in runs    {} of {} ({:.1f} %), {} lines\n", in_runs, all, share(in_runs, all),
                      status.records_formed());
  text += fmt::format("  bytes in the output            {} ({:.1f} %), {} lines\n", in_output, share(in_output, all),
                      status.records_merged());
  return text + fmt::format("  memory it was planned with     {}\n", format_bytes(contents.header.memory_bytes));
}

namespace {

using Json = nlohmann::ordered_json;

std::string exact(std::uint64_t bytes) { return fmt::format("{} ({} bytes)", format_bytes(bytes), bytes); }

Json plan_json(const ResolvedLines& resolved) {
  const inplace::LinesSpace& space = resolved.space;
  const lines::LinePlan& plan = resolved.job.plan;
  return {{"schema", "ecosort.resumable-lines-plan/1"},
          {"input_bytes", job::known_bytes(resolved.job.inputs)},
          {"memory_limit_bytes", resolved.header.memory_bytes},
          {"fixed_overhead_bytes", planner::fixed_overhead_bytes},
          {"compute_threads", plan.threads},
          {"job_directory", inplace::JobPaths(resolved.output).directory},
          {"counted_line_bytes", inplace::counted_line_bytes},
          {"runs", space.runs},
          {"runs_merged_at_once", resolved.header.lines->most_merged},
          {"block_bytes", plan.block_bytes},
          {"interval_bytes", resolved.header.layout.interval_bytes},
          {"checkpoints", space.checkpoints},
          {"run_bytes", space.run_bytes},
          {"output_bytes", space.output_bytes},
          {"journal_bytes", space.journal_bytes},
          {"metadata_bytes", space.metadata_bytes},
          {"held_bytes", space.held_bytes},
          {"needed_bytes", space.need_bytes()},
          {"free_bytes", resolved.free_bytes}};
}

std::string plan_text(const ResolvedLines& resolved) {
  const inplace::LinesSpace& space = resolved.space;
  const auto row = [](const char* name, const std::string& value) { return fmt::format("  {:<22}{}\n", name, value); };
  return "Plan: resumable sort of lines\n" + row("input", exact(job::known_bytes(resolved.job.inputs))) +
         row("memory", exact(resolved.header.memory_bytes)) +
         row("job directory", fmt::format("{}; runs keep their space until the output is complete",
                                          inplace::JobPaths(resolved.output).directory)) +
         row("runs", fmt::format("at most {} where lines have {} bytes or more on average, in blocks of {}", space.runs,
                                 inplace::counted_line_bytes, format_bytes(resolved.job.plan.block_bytes))) +
         row("merged at a time", fmt::format("up to {} runs, fewer where lines are long", resolved.header.lines->most_merged)) +
         row("checkpoints", fmt::format("after {} of output at least, about {}",
                                        format_bytes(resolved.header.layout.interval_bytes), space.checkpoints)) +
         row("free space needed",
             fmt::format("{}: runs {}, output {}, journal {}, allowance for metadata {}", exact(space.need_bytes()),
                         format_bytes(space.run_bytes), format_bytes(space.output_bytes), format_bytes(space.journal_bytes),
                         format_bytes(space.metadata_bytes + space.held_bytes))) +
         row("free space", exact(resolved.free_bytes));
}

}  // namespace

std::optional<std::string> resumable_lines_plan(const LinesOptions& options, const Words& words, bool is_json,
                                                io::PosixStorage& storage) {
  const std::optional<ResolvedLines> resolved = resolve_lines(options, words, storage);
  if (!resolved) return std::nullopt;
  return is_json ? plan_json(*resolved).dump(2) + "\n" : plan_text(*resolved);
}

}  // namespace ecosort::cli
