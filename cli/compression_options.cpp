#include "cli/compression_options.h"

#include <fmt/format.h>

#include "base/errors.h"
#include "base/size_text.h"
#include "job/plan_codecs.h"

namespace ecosort::cli {

EnergyTerms energy_of_goal(const Request& request, const ProfileChoice& choice) {
  if (request.place.kind == PlaceKind::resumable) throw UsageError(std::string(energy_goes_without_resumable));
  const std::string& runs = request.compression.runs;
  if (runs != "auto" && (!runs.empty() || request.format() == Format::records))
    throw UsageError("--goal energy chooses how runs are compressed; give --compress=auto with it");
  if (!choice.profile)
    throw UsageError(
        "--goal energy needs a profile that knows watts, and there is none: ecosort-tune fit makes one from results of "
        "ecosort-power");
  if (!choice.profile->power)
    throw UsageError(
        fmt::format("--goal energy: profile '{}' knows no watts: ecosort-tune fit with results of ecosort-power", choice.path));
  const planner::PowerModel& power = *choice.profile->power;
  return {.idle_w = power.idle_w, .core_w = power.core_w, .gb_j = power.gb_j};
}

Json run_compression_json(const planner::PackingPlan& plan, const std::optional<run::PackingReport>& report) {
  if (!report) return nullptr;
  return {{"asked", plan.wanted.is_auto ? "auto" : codec::text_of(plan.wanted.terms)},
          {"goal", plan.power ? "energy" : "time"},
          {"codec", codec::text_of(report->last.codec)},
          {"transposed", report->last.transposes},
          {"truncated", report->last.truncates},
          {"because", report->why},
          {"plain_bytes", report->plain_bytes},
          {"stored_bytes", report->stored_bytes},
          {"blocks", report->blocks},
          {"packed_blocks", report->packed_blocks},
          {"tried_blocks", report->tried_blocks},
          {"try_cpu_s", report->try_s},
          {"compress_cpu_s", report->pack_s},
          {"decompress_cpu_s", report->unpack_s}};
}

std::string packing_text(const planner::PackingPlan& plan) {
  if (plan.coders == 0) return "";
  const std::string usual = codec::text_of(plan.wanted.terms);
  std::string what = usual;
  if (plan.wanted.is_auto && usual == "lz4") what += plan.power ? " where it saves energy" : " where it pays";
  if (plan.wanted.is_auto && usual != "lz4")
    what = fmt::format("lz4 or {} where they {}", usual, plan.power ? "save energy" : "pay");
  return fmt::format("{}; {} coders and their index take {} ({} bytes)", what, plan.coders, format_bytes(plan.bytes()),
                     plan.bytes());
}

std::string packed_text(const std::optional<run::PackingReport>& report) {
  if (!report || report->packed_blocks == 0) return "";
  const bool is_last_packed = !report->last.is_none();  // auto may have changed its mind
  return fmt::format(", runs {:.1f} x smaller{}",
                     static_cast<double>(report->plain_bytes) / static_cast<double>(report->stored_bytes),
                     is_last_packed ? " by " + run::text_of(report->last) : "");
}

Json compression_json(const engine::rows::LinesJob& job, const engine::rows::LinesReport& report) {
  Json inputs = Json::array(), output = nullptr;
  for (const engine::rows::LineInput& input : job.inputs) {
    if (!input.decompresses || !input.codec) continue;
    inputs.push_back({{"name", input.name},
                      {"codec", codec::name_of(*input.codec)},
                      {"compressed_bytes", input.compressed_bytes},
                      {"plain_bytes", input.plain_bytes}});
  }
  if (job.codecs.packing) {
    const codec::OutputCodec& codec = job.codecs.packing->output;
    output = {{"codec", codec::name_of(codec.codec)},
              {"level", codec.level},
              {"compressed_bytes", report.packed_bytes},
              {"plain_bytes", report.output_bytes}};
  }
  return {{"inputs", std::move(inputs)},
          {"runs", run_compression_json(job.codecs.runs, report.run_packing)},
          {"output", std::move(output)}};
}

}  // namespace ecosort::cli
