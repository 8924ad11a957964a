#include "run/codec_choice.h"

#include <fmt/format.h>

#include <algorithm>

namespace ecosort::run {
namespace {

// A codec must gain so much to be worth its risk: what is predicted is a few percent off, and more beside other work, which the
// codec takes processors from.
double least_gain(const Pace& pace) noexcept {
  constexpr double alone = 0.05, most = 0.2;
  return std::min(alone * pace.slowdown * pace.slowdown, most);
}
// The shorter one of work and drives is not done at the same time for so much: the first run is read before anything is sorted.
constexpr double apart = 0.1;
// Measured on sorted blocks of logs, CSV and gensort records: lz4 decodes in 0.17 to 0.3 of the time it encodes in, zstd in 0.4;
// behind truncation, whose rows the merge puts together instead of looking at them, in 0.12 and 0.23 of both (paths and URLs).
double unpack_share(const PackTerms& terms) noexcept {
  constexpr double of_codec = 0.4, behind_truncation = 0.25;
  if (terms.codec.codec == codec::BlockCodec::prefix) return 0;
  return terms.truncates ? behind_truncation : of_codec;
}

double phase_s(double drive_s, double compute_s) noexcept {
  return std::max(drive_s, compute_s) + apart * std::min(drive_s, compute_s);
}

// Both passes over a byte of input.
double sort_s(const Pace& pace, double ratio, double pack_s, double unpack_s) noexcept {
  const double run_s = pace.drive_s / ratio, input_s = pace.reads_input ? pace.drive_s : 0, threads = pace.threads;
  return phase_s(input_s + run_s, pace.slowdown * (pace.compute_s + pack_s / threads)) +
         phase_s(run_s + pace.drive_s, pace.slowdown * (pace.compute_s + unpack_s / threads));
}

// Counts joules instead.
double sort_j(const Pace& pace, double ratio, double pack_s, double unpack_s, const planner::PowerModel& power) noexcept {
  const double processors_s = 2 * pace.compute_s * pace.threads + pack_s + unpack_s;
  const double moved_bytes = (pace.reads_input ? 1 : 0) + 2 / ratio + 1;
  return power.idle_w * sort_s(pace, ratio, pack_s, unpack_s) + power.core_w * processors_s + power.gb_j * 1e-9 * moved_bytes;
}

std::string text_of(const Pace& pace) {
  constexpr double worth_saying = 1.5;
  const std::string drives = fmt::format("drives move {:.2f} GB/s", 1e-9 / pace.drive_s);
  if (pace.slowdown < worth_saying) return drives;
  return drives + fmt::format(", computing takes {:.1f} x as long because processors are busy", pace.slowdown);
}

// Counts what the goal is about: seconds, or joules where there is a model of them.
double cost_of(const Pace& pace, const std::optional<planner::PowerModel>& power, double ratio, double pack_s, double unpack_s) {
  return power ? sort_j(pace, ratio, pack_s, unpack_s, *power) : sort_s(pace, ratio, pack_s, unpack_s);
}

std::string why_none(const Pace& pace, double most_ratio, bool has_power) {
  const double percent = 100 * least_gain(pace);
  const std::string gain =
      has_power ? fmt::format("save {:.0f} % of the energy", percent) : fmt::format("make that {:.0f} % faster", percent);
  if (most_ratio <= 1) return fmt::format("{}, and no codec would {}", text_of(pace), gain);
  return fmt::format("{}, and {:.1f} x smaller runs would not {}", text_of(pace), most_ratio, gain);
}

}  // namespace

bool could_pay(const Pace& pace, const std::optional<planner::PowerModel>& power) {
  constexpr double least_left = 1e9;  // the ratio of a run that takes no space
  return cost_of(pace, power, least_left, 0, 0) < cost_of(pace, power, 1, 0, 0) * (1 - least_gain(pace));
}

CodecChoice choose_codec(const Pace& pace, std::span<const Trial> trials, const std::optional<planner::PowerModel>& power) {
  if (pace.drive_s <= 0) return {{}, "nothing is known of the drives yet"};
  const double plain = cost_of(pace, power, 1, 0, 0);
  const Trial* best = nullptr;
  double least = plain * (1 - least_gain(pace)), most_ratio = 1;
  for (const Trial& trial : trials) {
    const double its = cost_of(pace, power, trial.ratio, trial.pack_s, unpack_share(trial.terms) * trial.pack_s);
    most_ratio = std::max(most_ratio, trial.ratio);
    if (its >= least) continue;
    best = &trial;
    least = its;
  }
  if (best == nullptr) return {{}, why_none(pace, most_ratio, power.has_value())};
  const std::string gain =
      power ? fmt::format("{:.0f} % fewer joules", 100 * (1 - least / plain)) : fmt::format("{:.1f} x as fast", plain / least);
  return {best->terms, fmt::format("{}, runs become {:.1f} x smaller: {} by the model", text_of(pace), best->ratio, gain)};
}

std::vector<PackTerms> ways_to_pack(const codec::RunCompression& wanted, std::uint32_t record_size) {
  std::vector<codec::BlockTerms> codecs{wanted.terms};
  const codec::BlockTerms lz4{codec::BlockCodec::lz4, 0};
  if (wanted.is_auto && wanted.terms != lz4) codecs.insert(codecs.begin(), lz4);
  const bool has_rows = record_size == 0, is_prefix = wanted.terms.codec == codec::BlockCodec::prefix;
  std::vector<PackTerms> ways;
  if (has_rows && (wanted.is_auto || is_prefix)) ways.push_back({{codec::BlockCodec::prefix, 0}, false, true});
  if (is_prefix) return ways;
  for (const codec::BlockTerms& codec : codecs) {
    if (has_rows) ways.push_back({codec, false, true});  // first: where both take as many pages, the codec has less to do
    ways.push_back({codec, false, false});
    if (record_size > 1) ways.push_back({codec, true, false});
  }
  return ways;
}

CodecChoice choose_terms(const planner::PackingPlan& plan, const Pace& pace, std::span<const Trial> trials) {
  if (plan.wanted.is_auto) return choose_codec(pace, trials, plan.power);
  if (trials.empty()) return {{plan.wanted.terms, false, plan.wanted.terms.codec == codec::BlockCodec::prefix}, "asked for"};
  return {std::ranges::max_element(trials, {}, &Trial::ratio)->terms, "asked for"};
}

}  // namespace ecosort::run
