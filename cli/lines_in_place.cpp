#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/errors.h"
#include "base/json.h"
#include "base/size_text.h"
#include "base/threads.h"
#include "cli/jobs.h"
#include "cli/report_files.h"
#include "cli/run_job.h"
#include "cli/say.h"
#include "demsort_inplace/prepare/rows.h"

namespace ecosort::cli {

namespace {

using inplace::LinesInPlace;
using inplace::PreparedLinesInPlace;

Json space_json(const std::optional<LinesInPlace>& found) {
  if (!found) return nullptr;
  const LinesInPlace& plan = *found;
  return {{"need_bytes", plan.need_bytes()},
          {"memory_limit_bytes", plan.header.memory_bytes},
          {"runs", plan.runs},
          {"run_buffer_bytes", plan.plan.run_buffer_bytes},
          {"block_bytes", plan.plan.block_bytes},
          {"longest_line_bytes", inplace::longest_line_in_place(plan.plan)},
          {"interval_bytes", plan.header.layout.interval_bytes},
          {"checkpoints", plan.checkpoints},
          {"journal_bytes", plan.journal_bytes},
          {"metadata_bytes", plan.metadata_bytes},
          {"held_bytes", plan.held_bytes}};
}

std::string plan_json(const PreparedLinesInPlace& prepared, const std::string& file) {
  Json json{{"schema", "ecosort.lines-inplace-plan/1"},
            {"input_bytes", prepared.input_bytes},
            {"fixed_overhead_bytes", planner::fixed_overhead_bytes},
            {"compute_threads", prepared.job.plan.threads},
            {"job_directory", inplace::JobPaths(file).directory},
            {"free_bytes", prepared.free_bytes}};
  if (prepared.choice.least) {
    json["needed_bytes"] = prepared.choice.least->need_bytes();
    json["fits"] = prepared.choice.best.has_value();
    json["plan"] = space_json(prepared.choice.best);
    json["least"] = space_json(prepared.choice.least);
  }
  return json.text(2) + "\n";
}

std::string plan_text(const PreparedLinesInPlace& prepared, const std::string& file) {
  if (!prepared.choice.best) return "Plan: lines in place\n  nothing to sort\n";
  const LinesInPlace& plan = *prepared.choice.best;
  const auto row = [](const char* name, const std::string& value) { return fmt::format("  {:<22}{}\n", name, value); };
  return "Plan: lines in place\n" + row("input", exact_bytes(prepared.input_bytes)) +
         row("memory", exact_bytes(plan.header.memory_bytes)) +
         row("job directory", fmt::format("{}; the input gives its space to the runs, and these to the output",
                                          inplace::JobPaths(file).directory)) +
         row("runs", fmt::format("at most {}, if all lines are empty, in blocks of {}; all are merged at once", plan.runs,
                                 format_bytes(plan.plan.block_bytes))) +
         row("longest line", exact_bytes(inplace::longest_line_in_place(plan.plan)) + "; a longer one needs more memory") +
         row("checkpoints", fmt::format("after {} of output at least, about {}", format_bytes(plan.header.layout.interval_bytes),
                                        plan.checkpoints)) +
         row("space taken", fmt::format("{}: run being written, padding and interval {}, journal {}, allowance for metadata {}",
                                        exact_bytes(plan.need_bytes()), format_bytes(plan.extra_bytes()),
                                        format_bytes(plan.journal_bytes), format_bytes(plan.metadata_bytes + plan.held_bytes))) +
         row("free space needed", exact_bytes(prepared.choice.least->need_bytes()) + ", then with less memory") +
         row("free space", exact_bytes(prepared.free_bytes));
}

}  // namespace

int run_lines_in_place(const RowsCommand& command, double started_s) {
  const std::string& file = command.sort.inputs.front();
  const bool quiet = command.reports.quiet;
  job::Session session;
  tell_waits(session, quiet);
  PreparedLinesInPlace prepared = inplace::prepare_lines_in_place(command.sort, session.storage());
  inplace::require_space(prepared, file);
  check_report_files({command.reports.stats, command.reports.events, ""}, prepared.job.inputs, file);
  if (prepared.input_bytes == 0) return 0;
  prepared.job.look = command.look;
  open_queue(session, command.sort.means.io, job_queue_depth, quiet);
  check_threads_can_start(prepared.job.plan.threads + 1, "--parallel");
  print_notice(quiet, fmt::format("the lines are in '{}' until they are sorted; after an interruption: ecosort resume {}",
                                  inplace::JobPaths(file).directory, file));
  print_notice(quiet, inplace::give_back_beyond_end(*prepared.job.inputs.front().file));
  const JobRun run{file, command.reports, "lines"};
  const lines::LinesJob figures = inplace::figures_of(prepared.job);
  return run_job(run, session, started_s, [&](const inplace::Environment& environment) {
    return result_of(command.sort, inplace::run_lines_in_place(std::move(prepared), file, environment), figures);
  });
}

void plan_lines_in_place(const Request& request, bool is_json, io::PosixStorage& storage) {
  const std::string& file = request.inputs.front();
  const PreparedLinesInPlace prepared = inplace::prepare_lines_in_place(request, storage);
  if (is_json) print_out(plan_json(prepared, file));  // where it does not fit, too
  inplace::require_space(prepared, file);
  if (!is_json) print_out(plan_text(prepared, file));
}

}  // namespace ecosort::cli
