#include "run/codec_choice.h"

#include <fmt/format.h>

#include <algorithm>

namespace ecosort::run {
namespace {

// What a codec must gain to be worth its risk: what is predicted is a few percent off.
constexpr double least_gain = 0.05;
// Of the shorter one of work and drives, what is not done at the same time: the first run is read before anything is sorted.
constexpr double apart = 0.1;
// Measured on sorted blocks of logs, CSV and gensort records: lz4 decodes in 0.17 to 0.3 of the time it encodes in, zstd in 0.4.
constexpr double unpack_share = 0.4;

double phase_s(double drive_s, double compute_s) noexcept {
  return std::max(drive_s, compute_s) + apart * std::min(drive_s, compute_s);
}

// Both passes over a byte of input.
double sort_s(const Pace& pace, double ratio, double pack_s) noexcept {
  const double run_s = pace.drive_s / ratio, input_s = pace.reads_input ? pace.drive_s : 0, threads = pace.threads;
  return phase_s(input_s + run_s, pace.compute_s + pack_s / threads) +
         phase_s(run_s + pace.drive_s, pace.compute_s + unpack_share * pack_s / threads);
}

std::string rate(double seconds_per_byte) { return fmt::format("{:.2f} GB/s", 1e-9 / seconds_per_byte); }

}  // namespace

CodecChoice choose_codec(const Pace& pace, std::span<const Trial> trials) {
  if (pace.drive_s <= 0) return {{}, "nothing is known of the drives yet"};
  const double plain_s = sort_s(pace, 1, 0);
  const Trial* best = nullptr;
  double best_s = plain_s * (1 - least_gain), most_ratio = 1;
  for (const Trial& trial : trials) {
    const double seconds = sort_s(pace, trial.ratio, trial.pack_s);
    most_ratio = std::max(most_ratio, trial.ratio);
    if (seconds >= best_s) continue;
    best = &trial;
    best_s = seconds;
  }
  const std::string drives = "drives move " + rate(pace.drive_s);
  if (best == nullptr)
    return {{}, fmt::format("{}, and {:.1f} x smaller runs would not make that 5 % faster", drives, most_ratio)};
  return {best->terms,
          fmt::format("{}, runs become {:.1f} x smaller: {:.1f} x as fast by the model", drives, best->ratio, plain_s / best_s)};
}

}  // namespace ecosort::run
