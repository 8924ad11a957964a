#include <fmt/format.h>

#include <optional>

#include "base/size_text.h"
#include "cli/jobs.h"

namespace ecosort::cli {

namespace {

using demsort_inplace::LinesInPlace;

Json space_json(const std::optional<LinesInPlace>& found) {
  if (!found) return nullptr;
  const LinesInPlace& plan = *found;
  return {{"need_bytes", plan.need_bytes()},
          {"memory_limit_bytes", plan.header.memory_bytes},
          {"runs", plan.runs},
          {"run_buffer_bytes", plan.plan.run_buffer_bytes},
          {"block_bytes", plan.plan.block_bytes},
          {"longest_line_bytes", demsort_inplace::longest_line_in_place(plan.plan)},
          {"interval_bytes", plan.header.layout.interval_bytes},
          {"checkpoints", plan.checkpoints},
          {"journal_bytes", plan.journal_bytes},
          {"metadata_bytes", plan.metadata_bytes},
          {"held_bytes", plan.held_bytes}};
}

}  // namespace

Json in_place_plan_json(const demsort_inplace::prepare::PreparedRowsJob& prepared) {
  Json json{{"schema", "ecosort.lines-inplace-plan/1"},
            {"input_bytes", prepared.input_bytes},
            {"fixed_overhead_bytes", planner::fixed_overhead_bytes},
            {"compute_threads", prepared.job.plan.threads},
            {"job_directory", demsort_inplace::JobPaths(prepared.file).directory},
            {"free_bytes", prepared.free_bytes}};
  if (prepared.choice.least) {
    json["needed_bytes"] = prepared.choice.least->need_bytes();
    json["fits"] = prepared.choice.best.has_value();
    json["plan"] = space_json(prepared.choice.best);
    json["least"] = space_json(prepared.choice.least);
  }
  return json;
}

std::string in_place_plan_text(const demsort_inplace::prepare::PreparedRowsJob& prepared) {
  if (!prepared.choice.best) return "Plan: lines in place\n  nothing to sort\n";
  const LinesInPlace& plan = *prepared.choice.best;
  const auto row = [](const char* name, const std::string& value) { return fmt::format("  {:<22}{}\n", name, value); };
  return "Plan: lines in place\n" + row("input", exact_bytes(prepared.input_bytes)) +
         row("memory", exact_bytes(plan.header.memory_bytes)) +
         row("job directory", fmt::format("{}; the input gives its space to the runs, and these to the output",
                                          demsort_inplace::JobPaths(prepared.file).directory)) +
         row("runs", fmt::format("at most {}, if all lines are empty, in blocks of {}; all are merged at once", plan.runs,
                                 format_bytes(plan.plan.block_bytes))) +
         row("longest line",
             exact_bytes(demsort_inplace::longest_line_in_place(plan.plan)) + "; a longer one needs more memory") +
         row("checkpoints", fmt::format("after {} of output at least, about {}", format_bytes(plan.header.layout.interval_bytes),
                                        plan.checkpoints)) +
         row("space taken", fmt::format("{}: run being written, padding and interval {}, journal {}, allowance for metadata {}",
                                        exact_bytes(plan.need_bytes()), format_bytes(plan.extra_bytes()),
                                        format_bytes(plan.journal_bytes), format_bytes(plan.metadata_bytes + plan.held_bytes))) +
         row("least free space", exact_bytes(prepared.choice.least->need_bytes()) + ", perhaps with less memory") +
         row("free space", exact_bytes(prepared.free_bytes));
}

}  // namespace ecosort::cli
