#include <fmt/format.h>

#include <utility>

#include "base/errors.h"
#include "base/json.h"
#include "base/size_text.h"
#include "base/threads.h"
#include "cli/compression_options.h"
#include "cli/jobs.h"
#include "cli/report_files.h"
#include "cli/run_job.h"
#include "cli/say.h"
#include "job/plan_json.h"

namespace ecosort::cli {

namespace {

// Before it begins: where the rows are after an interruption, and what of the file goes back already.
void tell_place(const demsort_inplace::prepare::PreparedRowsJob& prepared, const RunReports& reports) {
  if (!prepared.header.is_in_place()) return tell_job_place(prepared.file, reports);
  reports.print(fmt::format("the lines are in '{}' until they are sorted; after an interruption: ecosort resume {}",
                            demsort_inplace::JobPaths(prepared.file).directory, prepared.file));
  reports.print(demsort_inplace::give_back_beyond_end(prepared.first_input()));
}

}  // namespace

std::optional<int> run_rows_job(const RowsCommand& command, double started_s) {
  const bool is_in_place = command.sort.place.kind == PlaceKind::in_place;
  job::Session session;
  tell_waits(session, command.reports);
  demsort_inplace::prepare::PreparedRowsJob prepared = demsort_inplace::prepare::prepare_rows(command.sort, session.storage());
  demsort_inplace::prepare::require_space(prepared);
  check_report_files({command.reports.stats, command.reports.events, ""}, prepared.job.inputs, {prepared.file});
  if (prepared.is_empty()) return is_in_place ? std::make_optional(0) : std::nullopt;
  prepared.job.look = command.look;
  open_queue(session, command.sort.means.io, job_queue_depth, command.reports);
  check_threads_can_start(prepared.job.plan.threads + 1, command.sort.format() == Format::lines ? "--parallel" : "--threads");
  tell_place(prepared, command.reports);
  const JobRun run{prepared.file, command.reports, rows_noun(std::string(name_of(command.sort.format()))), is_in_place};
  const engine::rows::LinesJob figures = demsort_inplace::prepare::figures_of(prepared.job);
  return run_job(run, session, started_s, [&](const demsort_inplace::JobContext& environment) {
    return result_of(command.sort, demsort_inplace::prepare::run_prepared(std::move(prepared), environment), figures);
  });
}

int resume_rows_job(const CommandLine& line, const JobRun& run, demsort_inplace::JobStatus status, job::Session& session,
                    double started_s, bool abandons) {
  const demsort_inplace::JobHeader header = status.contents->header;
  const bool trusts_drive = line.has("--trust-drive");
  const Request request = request_of(line.request.means, run.file, header);
  const auto job = [&] { return demsort_inplace::prepare::prepare_resumed_rows(request, header, session.storage()); };
  const engine::rows::LinesJob figures = abandons ? engine::rows::LinesJob{} : demsort_inplace::prepare::figures_of(job());
  if (!abandons) check_threads_can_start(figures.plan.threads + 1, "--threads");
  if (trusts_drive && status.records_merged() > 0)
    run.reports.print(fmt::format("--trust-drive: the {} {} that the output holds are not read again", status.records_merged(),
                                  rows_noun(header.lines->command)));
  return run_job(run, session, started_s, [&](demsort_inplace::JobContext environment) {
    environment.trusts_drive = trusts_drive;
    environment.only_completes = !line.has("--abandon");
    engine::rows::LinesReport report = abandons ? demsort_inplace::abandon_rows(run.file, std::move(status), environment)
                                                : demsort_inplace::resume_rows(run.file, std::move(status), job(), environment);
    return result_of(request, std::move(report), figures);
  });
}

std::string rows_status_text(const demsort_inplace::JobStatus& status) {
  const demsort_inplace::JournalContents& contents = *status.contents;
  const char* const noun = rows_noun(contents.header.lines->command);
  std::string text = fmt::format("  job                            {} of the {} of",
                                 contents.header.is_in_place() ? "sort in place" : "resumable sort", noun);
  for (const demsort_inplace::InputIdentity& input : contents.header.inputs) text += fmt::format(" '{}'", input.path);
  text += '\n';
  if (status.is_abandoned()) return text;
  const demsort_inplace::prepare::RowsProgress progress = demsort_inplace::prepare::progress_of(contents);
  const auto share = [](std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 100.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  };
  text += fmt::format("  bytes of the inputs in runs    {} of {} ({:.1f} %), {} {}\n", progress.in_runs, progress.inputs,
                      share(progress.in_runs, progress.inputs), status.records_formed(), noun);
  text += fmt::format("  bytes in the output            {} ({:.1f} %), {} {}\n", progress.in_output,
                      share(progress.in_output, progress.inputs), status.records_merged(), noun);
  return text + fmt::format("  memory it was planned with     {}\n", format_bytes(contents.header.memory_bytes));
}

namespace {

Json plan_json(const demsort_inplace::prepare::PreparedRowsJob& prepared) {
  const demsort_inplace::LinesSpace& space = prepared.space;
  const planner::LinePlan& plan = prepared.job.plan;
  return {{"schema", fmt::format("ecosort.resumable-{}-plan/1", prepared.header.lines->command)},
          {"input_bytes", prepared.input_bytes},
          {"memory_limit_bytes", prepared.header.memory_bytes},
          {"fixed_overhead_bytes", planner::fixed_overhead_bytes},
          {"compute_threads", plan.threads},
          {"job_directory", demsort_inplace::JobPaths(prepared.file).directory},
          {"counted_line_bytes", demsort_inplace::counted_line_bytes},
          {"runs", space.runs},
          {"runs_merged_at_once", prepared.header.lines->most_merged},
          {"block_bytes", plan.block_bytes},
          {"interval_bytes", prepared.header.layout.interval_bytes},
          {"checkpoints", space.checkpoints},
          {"run_bytes", space.run_bytes},
          {"compression", job::compression_json(prepared.job.codecs.runs)},
          {"output_bytes", space.output_bytes},
          {"journal_bytes", space.journal_bytes},
          {"metadata_bytes", space.metadata_bytes},
          {"held_bytes", space.held_bytes},
          {"needed_bytes", space.need_bytes()},
          {"free_bytes", prepared.free_bytes},
          {"fits", prepared.fits()}};
}

std::string plan_text(const demsort_inplace::prepare::PreparedRowsJob& prepared) {
  const demsort_inplace::LinesSpace& space = prepared.space;
  const auto row = [](const char* name, const std::string& value) { return fmt::format("  {:<22}{}\n", name, value); };
  const char* const noun = rows_noun(prepared.header.lines->command);
  const planner::PackingPlan& packing = prepared.job.codecs.runs;
  return fmt::format("Plan: resumable sort of {}\n", noun) + row("input", exact_bytes(prepared.input_bytes)) +
         row("memory", exact_bytes(prepared.header.memory_bytes)) +
         row("job directory", fmt::format("{}; runs keep their space until the output is complete",
                                          demsort_inplace::JobPaths(prepared.file).directory)) +
         row("runs", fmt::format("at most {} where {} have {} bytes or more on average, in blocks of {}", space.runs, noun,
                                 demsort_inplace::counted_line_bytes, format_bytes(prepared.job.plan.block_bytes))) +
         (packing.coders > 0 ? row("compressed runs", packing_text(packing)) : "") +
         row("merged at a time",
             fmt::format("up to {} runs, fewer where {} are long", prepared.header.lines->most_merged, noun)) +
         row("checkpoints", fmt::format("after {} of output at least, about {}",
                                        format_bytes(prepared.header.layout.interval_bytes), space.checkpoints)) +
         row("free space needed",
             fmt::format("{}: runs {}, output {}, journal {}, allowance for metadata {}", exact_bytes(space.need_bytes()),
                         format_bytes(space.run_bytes), format_bytes(space.output_bytes), format_bytes(space.journal_bytes),
                         format_bytes(space.metadata_bytes + space.held_bytes))) +
         row("free space", exact_bytes(prepared.free_bytes));
}

}  // namespace

bool plan_rows_job(const Request& request, bool is_json, io::PosixStorage& storage) {
  const demsort_inplace::prepare::PreparedRowsJob prepared = demsort_inplace::prepare::prepare_rows(request, storage);
  const bool is_in_place = request.place.kind == PlaceKind::in_place;
  if (prepared.is_empty() && !is_in_place) return false;
  const auto json = [&] { return is_in_place ? in_place_plan_json(prepared) : plan_json(prepared); };
  if (is_json) print_out(json().text(2) + "\n");  // where it does not fit, too
  demsort_inplace::prepare::require_space(prepared);
  if (!is_json) print_out(is_in_place ? in_place_plan_text(prepared) : plan_text(prepared));
  return true;
}

}  // namespace ecosort::cli
