#include "cli/plan_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "base/size_text.h"

namespace ecosort::cli {

namespace {

// Options and their values, each with its source.
class Values {
 public:
  explicit Values(const CommandLine& line) : line_(line) {}

  void add(std::string_view option, std::string value) {
    values_.push_back({option, std::move(value), line_.profile.source_of(option, line_.has(option))});
  }
  [[nodiscard]] std::vector<PlanValue> take() { return std::move(values_); }

 private:
  const CommandLine& line_;
  std::vector<PlanValue> values_;
};

// Says how much smaller runs are assumed to be.
std::string assumed_packing_text(const planner::Prediction& found) {
  if (!found.packing) return "";
  const planner::PackingPrediction& packing = *found.packing;
  const std::string sample = fmt::format("by a sample of {} of the input", format_bytes(packing.sample_bytes));
  if (packing.codec == "none") return fmt::format("    runs            as they are: {}; {}\n", packing.why, sample);
  return fmt::format("    runs            {:.2f} x smaller with {}{}, {:.2f} CPU seconds to pack, {:.2f} to unpack; {}\n",
                     packing.ratio, packing.codec, packing.transposes ? " of columns" : "", packing.pack_s, packing.unpack_s,
                     sample);
}

Json packing_json(const std::optional<planner::PackingPrediction>& packing) {
  if (!packing) return nullptr;
  return {{"codec", packing->codec},
          {"transposed", packing->transposes},
          {"because", packing->why},
          {"ratio", packing->ratio},
          {"compress_cpu_s", packing->pack_s},
          {"decompress_cpu_s", packing->unpack_s},
          {"sample_bytes", packing->sample_bytes}};
}

}  // namespace

std::vector<PlanValue> values_of(const CommandLine& line, const job::PreparedRecords& resolved, const std::string& backend) {
  const planner::Wanted& wanted = resolved.job.plan.wanted;
  Values values(line);
  values.add("--memory", size_word(wanted.memory_bytes));
  values.add("--threads", fmt::format("{}", wanted.threads));
  values.add("--merge-threads", fmt::format("{}", wanted.threads_of_merge()));
  values.add("--temp", fmt::format("{}", fmt::join(resolved.job.directories, ", ")));
  values.add("--io", backend);
  values.add("--request-size", size_word(wanted.requests.bytes));
  values.add("--request-depth", fmt::format("{}", wanted.requests.depth));
  values.add("--compress", line.request.compression.runs.empty() ? "none" : line.request.compression.runs);
  values.add("--run-records", fmt::format("{}", resolved.job.plan.formation.run_records));
  std::vector<PlanValue> found = values.take();
  if (wanted.run_records == 0) found.back().source = "default";  // those of the profile do not fit
  return found;
}

namespace {

// A job lays out runs and requests by itself.
std::vector<PlanValue> values_of_job(const CommandLine& line, const planner::Wanted& wanted) {
  Values values(line);
  values.add("--memory", size_word(wanted.memory_bytes));
  values.add("--threads", fmt::format("{}", wanted.threads));
  values.add("--io", line.request.means.io);
  return values.take();
}

}  // namespace

std::vector<PlanValue> values_of(const CommandLine& line, const demsort_inplace::prepare::PreparedRecordsJob& prepared) {
  return values_of_job(line, prepared.wanted);
}

std::string values_text(const std::vector<PlanValue>& values, const ProfileChoice& profile) {
  std::string text = "  where the values come from\n";
  for (const PlanValue& value : values) text += fmt::format("    {:<18}{:<24}  {}\n", value.option, value.value, value.source);
  if (profile.profile) text += fmt::format("  profile             {}, of {}\n", profile.path, profile.profile->created);
  if (!profile.unused.empty()) text += fmt::format("  profile             not used: {}\n", profile.unused);
  return text;
}

void add_values(Json& json, const std::vector<PlanValue>& values, const ProfileChoice& profile) {
  Json list = Json::array();
  for (const PlanValue& value : values)
    list.push_back({{"option", value.option}, {"value", value.value}, {"source", value.source}});
  json["values"] = std::move(list);
  if (profile.profile)
    json["profile"] = {{"path", profile.path}, {"created", profile.profile->created}, {"unused_because", nullptr}};
  else if (!profile.unused.empty())
    json["profile"] = {{"path", profile.path}, {"created", nullptr}, {"unused_because", profile.unused}};
  else
    json["profile"] = nullptr;
}

std::string forecast_text(const planner::MaybePrediction& forecast) {
  if (!forecast.prediction) return fmt::format("  no prediction       {}\n", forecast.absent);
  const planner::Prediction& found = *forecast.prediction;
  std::string text = "  prediction          seconds     GB read  GB written  limited by\n";
  for (const planner::PhasePrediction& phase : found.phases)
    text += fmt::format("    {:<16}{:>9.2f}{:>12.3f}{:>12.3f}  {}\n", phase.name == "merge" ? "merge" : "run formation",
                        phase.seconds, static_cast<double>(phase.bytes_read) / 1e9,
                        static_cast<double>(phase.bytes_written) / 1e9, phase.bottleneck());
  text += fmt::format("    in all          {:>9.2f} s, {:.2f} CPU seconds, {} bytes moved{}\n", found.seconds, found.cpu_s,
                      found.bytes_moved, found.joules ? fmt::format(", {:.1f} J", *found.joules) : "");
  text += assumed_packing_text(found);
  text += fmt::format("    twice the speed would save {:.2f} s of the drive, {:.2f} s of the processor; most help: a faster {}\n",
                      found.saved_by_drive_s, found.saved_by_processor_s, found.help_most());
  for (const std::string& note : found.notes) text += fmt::format("    note: {}\n", note);
  return text;
}

Json forecast_json(const planner::MaybePrediction& forecast) {
  if (!forecast.prediction) return {{"absent", forecast.absent}};
  const planner::Prediction& found = *forecast.prediction;
  Json phases = Json::array();
  for (const planner::PhasePrediction& phase : found.phases) {
    Json times = Json::object();
    for (const auto& [name, seconds] : phase.times) times[name] = seconds;
    phases.push_back({{"name", phase.name},
                      {"seconds", phase.seconds},
                      {"work", {{"bytes_read", phase.bytes_read}, {"bytes_written", phase.bytes_written}}},
                      {"times", times},
                      {"factor", phase.factor},
                      {"bottleneck", phase.bottleneck()}});
  }
  return {{"phases", phases},
          {"seconds", found.seconds},
          {"cpu_s", found.cpu_s},
          {"bytes_moved", found.bytes_moved},
          {"temp_bytes", found.temp_bytes},
          {"compression", packing_json(found.packing)},
          {"joules", found.joules ? Json(*found.joules) : Json(nullptr)},
          {"saved_s", {{"drive", found.saved_by_drive_s}, {"processor", found.saved_by_processor_s}}},
          {"notes", found.notes},
          {"help_most", found.help_most()}};
}

}  // namespace ecosort::cli
