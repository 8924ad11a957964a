// The plan of a job that can be resumed, for people and for programs.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/json.h"
#include "base/size_text.h"
#include "cli/compression_options.h"
#include "cli/jobs.h"
#include "cli/plan_values.h"
#include "cli/report.h"
#include "job/plan_json.h"
#include "job/predict.h"

namespace ecosort::cli {

namespace {

Json space_json(const std::optional<demsort_inplace::SpacePlan>& found) {
  if (!found) return nullptr;
  const demsort_inplace::SpacePlan& plan = *found;
  const demsort_inplace::Layout& layout = plan.layout;
  return {{"need_bytes", plan.need_bytes()},
          {"journal_bytes", plan.journal_bytes},
          {"metadata_bytes", plan.metadata_bytes},
          {"runs", layout.runs()},
          {"piece_records", layout.piece_records},
          {"granule_bytes", layout.run_block.bytes},
          {"granule_records", layout.run_block.records},
          {"run_bytes", layout.all_run_bytes()},
          {"interval_bytes", layout.interval_bytes},
          {"checkpoints", plan.checkpoints},
          {"merge_block_bytes", plan.engine.merge.final.block_bytes},
          {"merge_blocks", plan.engine.merge.final.blocks},
          {"output_block_bytes", plan.engine.merge.final.output_block_bytes},
          {"bytes_read", plan.engine.bytes_read},
          {"bytes_written", plan.engine.bytes_written},
          {"peak_memory_bytes", plan.engine.peak_memory_bytes}};
}

std::string layout_text(const demsort_inplace::SpacePlan& plan) {
  const demsort_inplace::Layout& layout = plan.layout;
  return fmt::format(
      "  runs                {} of up to {} records, in run blocks of {}\n"
      "  merge               all runs at once, blocks of {}\n"
      "  checkpoints         after {} of output at least, about {}\n"
      "  drives              {} read, {} written\n"
      "  space taken         {}: piece or interval {}, padding {}, journal {}, allowance for metadata {}\n",
      layout.runs(), layout.piece_records, format_bytes(layout.run_block.bytes),
      format_bytes(plan.engine.merge.final.block_bytes), format_bytes(layout.interval_bytes / 2), plan.checkpoints,
      format_bytes(plan.engine.bytes_read), format_bytes(plan.engine.bytes_written), exact_bytes(plan.need_bytes()),
      format_bytes(std::max(layout.run_file_bytes(0, 0), layout.slack_bytes())),
      format_bytes(std::max(layout.all_run_bytes(), layout.bytes()) - layout.bytes()), format_bytes(plan.journal_bytes),
      format_bytes(plan.metadata_bytes));
}

std::string space_text(const demsort_inplace::SpacePlan& least, const demsort_inplace::SpacePlan& recommended) {
  return fmt::format("  free space needed   {}\n  recommended         {}; more gains little\n", exact_bytes(least.need_bytes()),
                     exact_bytes(std::max(least.need_bytes(), recommended.need_bytes())));
}

// The models are of ordinary sorts.
planner::MaybePrediction forecast_of(const planner::RecordPlan& engine, const std::vector<engine::fixed::Input>& inputs,
                                     const ProfileChoice& profile) {
  planner::MaybePrediction forecast = job::predict(engine, inputs, *profile.profile);
  if (forecast.prediction)
    forecast.prediction->notes.emplace_back(
        "as an ordinary sort that moves so many bytes; checkpoints, and small pieces where space is scarce, take longer");
  return forecast;
}

}  // namespace

std::string inplace_plan_text(const CommandLine& line, const demsort_inplace::prepare::PreparedRecordsJob& prepared) {
  const planner::Wanted& wanted = prepared.wanted;
  if (wanted.input_records == 0) return "Plan: in place\n  nothing to sort\n";
  std::string text = fmt::format("Plan: in place\n  input               {} records of {} bytes, {}\n", wanted.input_records,
                                 wanted.format.record_size, format_bytes(wanted.input_records * wanted.format.record_size));
  text += keys_text(wanted.format);
  text += fmt::format("  memory              {} (+ at most {} of fixed overhead)\n", format_bytes(wanted.memory_bytes),
                      format_bytes(planner::fixed_overhead_bytes));
  const demsort_inplace::SpacePlan recommended = demsort_inplace::recommended_space(wanted, prepared.ground).value();
  text += values_text(values_of(line, prepared), line.profile);
  if (line.profile.profile) text += forecast_text(forecast_of(prepared.choice.best->engine, {}, line.profile));
  text += space_text(*prepared.choice.least, recommended);
  if (line.assumed_bytes() == 0 || line.request.place.space_bytes)
    text += fmt::format("  {:<20}{}\n", !line.request.place.space_bytes ? "free space" : "space allowed",
                        exact_bytes(prepared.free_bytes));
  if (line.assumed_bytes() == 0) return text + layout_text(*prepared.choice.best);
  return text + (!line.request.place.space_bytes ? "With ample space\n" : "With this space\n") +
         layout_text(*prepared.choice.best) + "With the recommended space\n" + layout_text(recommended) +
         "With the least space\n" + layout_text(*prepared.choice.least);
}

std::string resumable_plan_text(const CommandLine& line, const demsort_inplace::prepare::PreparedRecordsJob& prepared) {
  const planner::Wanted& wanted = prepared.wanted;
  std::string text = fmt::format("Plan: resumable sort\n  input               {} records of {} bytes, {}\n", wanted.input_records,
                                 wanted.format.record_size, format_bytes(wanted.input_records * wanted.format.record_size));
  text += keys_text(wanted.format);
  text += fmt::format("  memory              {} (+ at most {} of fixed overhead)\n", format_bytes(wanted.memory_bytes),
                      format_bytes(planner::fixed_overhead_bytes));
  text += fmt::format("  job directory       {}; runs {}\n", demsort_inplace::JobPaths(prepared.file).directory,
                      prepared.ground.mode == demsort_inplace::Mode::keeping_runs
                          ? "keep their space to the end, because a crash could mix up blocks on this file system"
                          : "give their space to the output");
  text += packing_line(prepared.choice.best->engine);
  text += space_text(*prepared.choice.least, demsort_inplace::recommended_space(wanted, prepared.ground).value());
  if (!prepared.is_assumed) text += fmt::format("  free space          {}\n", exact_bytes(prepared.free_bytes));
  return text + layout_text(*prepared.choice.best) + values_text(values_of(line, prepared), line.profile) +
         (line.profile.profile ? forecast_text(forecast_of(prepared.choice.best->engine, prepared.inputs, line.profile)) : "");
}

std::string resumable_plan_json(const CommandLine& line, const demsort_inplace::prepare::PreparedRecordsJob& prepared) {
  const planner::Wanted& wanted = prepared.wanted;
  Json json{{"schema", "ecosort.resumable-plan/1"},
            {"records", wanted.input_records},
            {"record_size_bytes", wanted.format.record_size},
            {"input_bytes", wanted.input_records * wanted.format.record_size},
            {"memory_limit_bytes", wanted.memory_bytes},
            {"fixed_overhead_bytes", planner::fixed_overhead_bytes},
            {"compute_threads", wanted.threads},
            {"job_directory", demsort_inplace::JobPaths(prepared.file).directory},
            {"keeps_runs", prepared.ground.mode == demsort_inplace::Mode::keeping_runs},
            {"compression", job::compression_json(prepared.choice.any().engine.packing)},
            {"needed_bytes", prepared.choice.least->need_bytes()},
            {"fits", prepared.choice.best.has_value()},
            {"plan", space_json(prepared.choice.best)},
            {"least", space_json(prepared.choice.least)}};
  if (!prepared.is_assumed) json["free_bytes"] = prepared.free_bytes;
  add_values(json, values_of(line, prepared), line.profile);
  if (line.profile.profile && prepared.choice.best)
    json["prediction"] = forecast_json(forecast_of(prepared.choice.best->engine, prepared.inputs, line.profile));
  return json.text(2) + "\n";
}

std::string inplace_plan_json(const CommandLine& line, const demsort_inplace::prepare::PreparedRecordsJob& prepared) {
  const planner::Wanted& wanted = prepared.wanted;
  Json json{{"schema", "ecosort.inplace-plan/1"},
            {"records", wanted.input_records},
            {"record_size_bytes", wanted.format.record_size},
            {"keys", job::keys_json(wanted.format)},
            {"input_bytes", wanted.input_records * wanted.format.record_size},
            {"memory_limit_bytes", wanted.memory_bytes},
            {"fixed_overhead_bytes", planner::fixed_overhead_bytes},
            {"compute_threads", wanted.threads}};
  if (prepared.free_bytes != demsort_inplace::prepare::no_space_limit) json["free_bytes"] = prepared.free_bytes;
  if (wanted.input_records > 0) {
    const demsort_inplace::SpacePlan recommended = demsort_inplace::recommended_space(wanted, prepared.ground).value();
    json["needed_bytes"] = prepared.choice.least->need_bytes();
    json["fits"] = prepared.choice.best.has_value();
    json["recommended_bytes"] = recommended.need_bytes();
    json["plan"] = space_json(prepared.choice.best);
    json["recommended"] = space_json(recommended);
    json["least"] = space_json(prepared.choice.least);
    if (line.profile.profile && prepared.choice.best)
      json["prediction"] = forecast_json(forecast_of(prepared.choice.best->engine, {}, line.profile));
  }
  add_values(json, values_of(line, prepared), line.profile);
  return json.text(2) + "\n";
}

}  // namespace ecosort::cli
