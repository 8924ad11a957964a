#include "cli/resumable_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/errors.h"
#include "base/json_text.h"
#include "base/open_files.h"
#include "base/size_text.h"
#include "base/threads.h"
#include "cli/compression_options.h"
#include "cli/resumable_ground.h"
#include "cli/run_job.h"
#include "cli/say.h"
#include "demsort_inplace/describe_run.h"
#include "demsort_inplace/input_identity.h"
#include "demsort_inplace/line_runs.h"
#include "demsort_inplace/lines_in_place.h"
#include "demsort_inplace/preflight.h"
#include "demsort_inplace/resumable_lines.h"
#include "io/backends.h"
#include "io/direct_io.h"
#include "job/first_row.h"
#include "job/plan_codecs.h"
#include "job/plan_json.h"
#include "job/prepare_lines.h"
#include "plan/plan.h"
#include "run/run_block.h"

namespace ecosort::cli {

namespace {

void check_inputs(const lines::LinesJob& job) {
  if (job.codecs.packing) throw UsageError("--compress-output goes without --resumable: compress the output afterwards");
  for (const lines::LineInput& input : job.inputs) {
    if (!input.file)
      throw UsageError(fmt::format("--resumable: {} inputs are more than may be open at a time (ulimit -n)", job.inputs.size()));
    check_regular(*input.file);
    if (input.is_decoded())
      throw UsageError(
          fmt::format("{} is compressed, and goes without --resumable: decompress it first", rows::shown_name(input.name)));
  }
}

// The plan of the job, with these blocks or any.
lines::LinePlan kept_plan(const lines::LinesJob& job, std::size_t block_bytes) {
  if (const auto kept = lines::plan_for_kept_runs(job.plan, block_bytes)) return *kept;
  lines::LinePlan more = job.plan;
  do more.memory_bytes += more.memory_bytes / 4;
  while (!lines::plan_for_kept_runs(more, block_bytes));
  const std::uint64_t given = job.plan.memory_bytes + job.header_bytes + job.codecs.runs.bytes();
  const std::uint64_t enough =
      job.header_bytes + (job.codecs.runs.coders > 0 ? planner::memory_besides_packing(more.memory_bytes) : more.memory_bytes);
  throw UsageError(fmt::format("{} of memory are too little for this job, whose runs have blocks of {}; try --memory {}KiB",
                               format_bytes(given), format_bytes(block_bytes), (enough >> 10U) + 1));
}

// Coders of runs with such blocks take their part of the memory of `job`, which has none yet.
void set_packing(lines::LinesJob& job, const KeptCompression& compression, std::uint64_t input_bytes, std::size_t block_bytes) {
  if (compression.wanted.is_none()) return;
  // Of runs and of what they are merged into; a run beyond that is stored as it is.
  const std::uint64_t blocks = 2 * div_up(input_bytes, block_bytes - run::trailer_bytes);
  planner::PackingPlan& packing = job.codecs.runs;
  packing =
      job::plan_packing_of_blocks({job.plan.memory_bytes, job.plan.threads, false}, compression.wanted, block_bytes, blocks);
  packing.assumed_ratio = compression.assumed_ratio;
  job.plan.memory_bytes -= packing.bytes();
}

inplace::LineTerms terms_of(const RowsCommand& command, const lines::LinesJob& job) {
  job::FirstRow first = job::find_first_row(job.inputs, *job.format);
  return {.command = command.name,
          .words = command.words,
          .mark_bytes = first.mark_bytes,
          .first_row = std::move(first.row),
          .rules = command.rules,
          .salt = command.salt,
          .block_bytes = job.plan.block_bytes,
          .most_merged = inplace::most_merged_runs(job.plan)};
}

inplace::JobHeader header_of(const RowsCommand& command, const lines::LinesJob& job, std::uint64_t unit) {
  inplace::JobHeader header{
      .job = run::random_job(),
      .memory_bytes = job.plan.memory_bytes + job.header_bytes + job.codecs.runs.bytes(),
      .threads = static_cast<std::uint32_t>(std::min<std::uint64_t>(command.threads, planner::most_threads)),
      .kind = inplace::JobHeader::Kind::resumable_lines,
      .reread = job.reread};
  for (const lines::LineInput& input : job.inputs) header.inputs.push_back(inplace::identity_of(*input.file, input.opened));
  header.layout.unit = unit;
  header.layout.keeps_runs = true;
  header.layout.packs = job.codecs.runs.coders > 0;
  header.layout.assumed_ratio = job.codecs.runs.assumed_ratio;
  header.compression = {command.compression.wanted.is_auto, job.codecs.runs.wanted.terms};
  header.layout.interval_bytes = round_up(inplace::line_interval_bytes(inplace::most_output_bytes(header)), unit);
  header.lines = terms_of(command, job);
  header.layout.head_bytes = inplace::head_bytes(*header.lines, *job.format, unit);
  return header;
}

bool fits(const ResolvedRows& resolved) { return resolved.space.need_bytes() <= resolved.free_bytes; }

void require_space(const ResolvedRows& resolved) {
  if (!fits(resolved)) refuse_space(inplace::JobPaths(resolved.output).parent, resolved.space.need_bytes(), resolved.free_bytes);
  check_file_size_limit(inplace::most_output_bytes(resolved.header));
}

}  // namespace

std::optional<ResolvedRows> resolve_rows(const RowsCommand& command, io::PosixStorage& storage) {
  raise_open_files();
  ResolvedRows resolved{command.make_job(storage, 0), {}, {}, {}};
  check_inputs(resolved.job);
  resolved.output = resolved.job.output;
  check_no_job(resolved.output, storage);
  if (job::known_bytes(resolved.job.inputs) == 0) return std::nullopt;
  const std::string directory = inplace::JobPaths(resolved.output).parent;
  check_outlives_crash(directory);
  const std::uint64_t unit = std::max(direct_unit(directory, storage), inplace::block_bytes(directory));
  resolved.job.plan = kept_plan(resolved.job, 0);
  const std::size_t block_bytes = round_up(resolved.job.plan.block_bytes, unit);
  set_packing(resolved.job, command.compression, job::known_bytes(resolved.job.inputs), block_bytes);
  resolved.job.plan = kept_plan(resolved.job, block_bytes);
  resolved.header = header_of(command, resolved.job, unit);
  resolved.space = inplace::lines_space(resolved.header, resolved.job.plan, inplace::held_bytes(directory));
  resolved.free_bytes = storage.settled_free_bytes(directory, resolved.space.need_bytes());
  return resolved;
}

namespace {

// Of a job, for its figures: what it works with goes into the job.
lines::LinesJob figures_of(const lines::LinesJob& job) {
  lines::LinesJob figures;
  figures.plan = job.plan;
  figures.header_bytes = job.header_bytes;
  figures.codecs.runs = job.codecs.runs;
  return figures;
}

}  // namespace

std::optional<int> run_resumable_rows(const RowsCommand& command, double started_s) {
  const bool quiet = command.reports.quiet;
  io::PosixStorage storage;
  tell_waits(storage, quiet);
  std::optional<ResolvedRows> resolved = resolve_rows(command, storage);
  if (!resolved) return std::nullopt;
  require_space(*resolved);
  resolved->job.look = command.look;
  const io::Backend backend = io::make_queue(io::parse_backend(command.io), job_queue_depth);
  print_notice(quiet, backend.notice);
  check_threads_can_start(resolved->job.plan.threads + 1, command.name == "lines" ? "--parallel" : "--threads");
  print_notice(quiet, fmt::format("runs and journal are in '{}'; after an interruption: ecosort resume {}",
                                  inplace::JobPaths(resolved->output).directory, resolved->output));
  print_notice(quiet, journal_notice(resolved->output));
  const JobRun run{resolved->output, command.reports};
  const lines::LinesJob figures = figures_of(resolved->job);
  return run_job(run, storage, *backend.queue, started_s, [&](const inplace::Environment& environment) {
    return command.result_of(
        inplace::start_resumable_lines(resolved->output, std::move(resolved->job), resolved->header, environment), figures);
  });
}

namespace {

// With less memory there would be more runs, and these need more space.
lines::LinePlan plan_of_job_in_place(const lines::LinePlan& plan, const inplace::JobHeader& header) {
  if (plan.memory_bytes >= header.memory_bytes)
    if (const auto in_place = inplace::plan_in_place(plan, header.lines->block_bytes)) return *in_place;
  throw UsageError(fmt::format("{} of memory are too little for this job, which was laid out for {}; try --memory {}KiB",
                               format_bytes(plan.memory_bytes), format_bytes(header.memory_bytes),
                               (header.memory_bytes + 1023) >> 10U));
}

lines::LinesJob job_of(const RowsCommand& command, const inplace::JobHeader& header, io::PosixStorage& storage) {
  raise_open_files();
  lines::LinesJob job = command.make_job(storage, inplace::most_output_bytes(header));
  if (header.layout.packs) {
    set_packing(job, {header.compression, header.layout.assumed_ratio}, inplace::most_output_bytes(header),
                header.lines->block_bytes);
    if (!inplace::can_read(job.codecs.runs, header.compression))
      throw UsageError(fmt::format("the memory is too little for this job, whose runs are compressed with {}; try --memory {}KiB",
                                   codec::text_of(header.compression.terms), (header.memory_bytes + 1023) >> 10U));
  }
  if (header.is_in_place())
    job.plan = plan_of_job_in_place(job.plan, header);
  else
    job.plan = kept_plan(job, header.lines->block_bytes);
  return job;
}

}  // namespace

int resume_rows_job(const InPlaceOptions& given, inplace::JobStatus status, io::PosixStorage& storage, io::Queue& queue,
                    double started_s, bool abandons) {
  const std::string& file = given.run.file;
  const inplace::JobHeader header = status.contents->header;
  const RowsCommand command = rows_command(given, header);
  const lines::LinesJob figures = abandons ? lines::LinesJob{} : figures_of(job_of(command, header, storage));
  if (!abandons) check_threads_can_start(figures.plan.threads + 1, "--threads");
  if (given.trust_drive && status.records_merged() > 0)
    print_notice(given.run.reports.quiet, fmt::format("--trust-drive: the {} {} that the output holds are not read again",
                                                      status.records_merged(), rows_noun(command.name)));
  return run_job(given.run, storage, queue, started_s, [&](inplace::Environment environment) {
    environment.trusts_drive = given.trust_drive;
    if (abandons) return command.result_of(inplace::abandon_lines(file, std::move(status), environment), figures);
    return command.result_of(inplace::resume_lines(file, std::move(status), job_of(command, header, storage), environment),
                             figures);
  });
}

std::string rows_status_text(const inplace::JobStatus& status) {
  const inplace::JournalContents& contents = *status.contents;
  const char* const noun = rows_noun(contents.header.lines->command);
  std::string text = fmt::format("  job                            {} of the {} of",
                                 contents.header.is_in_place() ? "sort in place" : "resumable sort", noun);
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
  text += fmt::format("  bytes of the inputs in runs    {} of {} ({:.1f} %), {} {}\n", in_runs, all, share(in_runs, all),
                      status.records_formed(), noun);
  text += fmt::format("  bytes in the output            {} ({:.1f} %), {} {}\n", in_output, share(in_output, all),
                      status.records_merged(), noun);
  return text + fmt::format("  memory it was planned with     {}\n", format_bytes(contents.header.memory_bytes));
}

namespace {

using Json = nlohmann::ordered_json;

std::string exact(std::uint64_t bytes) { return fmt::format("{} ({} bytes)", format_bytes(bytes), bytes); }

Json plan_json(const ResolvedRows& resolved) {
  const inplace::LinesSpace& space = resolved.space;
  const lines::LinePlan& plan = resolved.job.plan;
  return {{"schema", fmt::format("ecosort.resumable-{}-plan/1", resolved.header.lines->command)},
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
          {"compression", job::compression_json(resolved.job.codecs.runs)},
          {"output_bytes", space.output_bytes},
          {"journal_bytes", space.journal_bytes},
          {"metadata_bytes", space.metadata_bytes},
          {"held_bytes", space.held_bytes},
          {"needed_bytes", space.need_bytes()},
          {"free_bytes", resolved.free_bytes},
          {"fits", fits(resolved)}};
}

std::string plan_text(const ResolvedRows& resolved) {
  const inplace::LinesSpace& space = resolved.space;
  const auto row = [](const char* name, const std::string& value) { return fmt::format("  {:<22}{}\n", name, value); };
  const char* const noun = rows_noun(resolved.header.lines->command);
  const planner::PackingPlan& packing = resolved.job.codecs.runs;
  return fmt::format("Plan: resumable sort of {}\n", noun) + row("input", exact(job::known_bytes(resolved.job.inputs))) +
         row("memory", exact(resolved.header.memory_bytes)) +
         row("job directory", fmt::format("{}; runs keep their space until the output is complete",
                                          inplace::JobPaths(resolved.output).directory)) +
         row("runs", fmt::format("at most {} where {} have {} bytes or more on average, in blocks of {}", space.runs, noun,
                                 inplace::counted_line_bytes, format_bytes(resolved.job.plan.block_bytes))) +
         (packing.coders > 0 ? row("compressed runs", packing_text(packing)) : "") +
         row("merged at a time",
             fmt::format("up to {} runs, fewer where {} are long", resolved.header.lines->most_merged, noun)) +
         row("checkpoints", fmt::format("after {} of output at least, about {}",
                                        format_bytes(resolved.header.layout.interval_bytes), space.checkpoints)) +
         row("free space needed",
             fmt::format("{}: runs {}, output {}, journal {}, allowance for metadata {}", exact(space.need_bytes()),
                         format_bytes(space.run_bytes), format_bytes(space.output_bytes), format_bytes(space.journal_bytes),
                         format_bytes(space.metadata_bytes + space.held_bytes))) +
         row("free space", exact(resolved.free_bytes));
}

}  // namespace

bool plan_resumable_rows(const RowsCommand& command, bool is_json, io::PosixStorage& storage) {
  const std::optional<ResolvedRows> resolved = resolve_rows(command, storage);
  if (!resolved) return false;
  if (is_json) print_out(json_text(plan_json(*resolved), 2) + "\n");  // where it does not fit, too
  require_space(*resolved);
  if (!is_json) print_out(plan_text(*resolved));
  return true;
}

}  // namespace ecosort::cli
