#include "cli/progress_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace ecosort::cli {

namespace {

using engine::Phase;

std::string plain_words(Phase phase) {
  switch (phase) {
    case Phase::starting:
      return "getting ready";
    case Phase::run_formation:
      return "reading and sorting";
    case Phase::intermediate_merge:
      return "merging parts";
    case Phase::merge:
      return "merging";
    case Phase::sync:
      return "waiting for the drive";
    case Phase::reread:
      return "reading back";
    case Phase::recheck:
      return "checking what was written before";
    case Phase::put_back:
      return "putting records back";
    case Phase::partition:
      return "cutting into slices";
    case Phase::sample:
      return "taking a sample";
    case Phase::generate:
      return "making records";
    case Phase::check:
      return "checking";
    default:
      return "done";
  }
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::ceil(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

// Units of a thousand, as drives are sold: "10.0 GB", "999 bytes".
std::string decimal_bytes_text(std::uint64_t bytes) {
  constexpr std::array units{"kB", "MB", "GB", "TB", "PB"};
  if (bytes < 1000) return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s");
  auto value = static_cast<double>(bytes) / 1000;
  std::size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < units.size(); ++unit) value /= 1000;
  return fmt::format("{:.{}f} {}", value, value < 99.95 ? 1 : 0, units[unit]);
}

std::string joined(std::span<const std::string> parts) {
  std::string text;
  for (const std::string& part : parts)
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  return text;
}

// The last column stays free: a terminal may go to its next line there.
std::string first_that_fits(std::span<const std::string> texts, std::size_t columns) {
  for (const std::string& text : texts)
    if (text.size() < columns) return text;
  return texts.back().substr(0, columns - std::min<std::size_t>(columns, 1));
}

std::string rate_text(double megabytes_per_s) { return megabytes_per_s > 0 ? fmt::format("{:.0f} MB/s", megabytes_per_s) : ""; }

}  // namespace

void JobPace::update(const engine::Progress::Reading& now, double elapsed_s) {
  constexpr double almost = 99;
  if (now.share < 0) return;
  if (now.phase != phase_ || now.share < began_share_) {
    phase_ = now.phase;
    began_share_ = now.share;
    began_s_ = elapsed_s;
  }
  const double most = now.phase == Phase::done ? 100 : almost;
  percent_ = std::max(percent_.value_or(0), std::min(100 * now.share, most));
  note_pace(now, elapsed_s);
  if (share_per_s_ == 0) return;
  left_s_ = (1 - now.share) / share_per_s_;
  phase_left_s_ = (now.share_at_end - now.share) / share_per_s_;
}

// The pace of the phase before holds until this one has its own.
void JobPace::note_pace(const engine::Progress::Reading& now, double elapsed_s) {
  constexpr double least_s = 0.5, least_of_phase = 0.01;
  const double took = elapsed_s - began_s_, done = now.share - began_share_;
  if (took >= least_s && done > 0 && done >= least_of_phase * (now.share_at_end - began_share_)) share_per_s_ = done / took;
}

std::string progress_text(const ProgressWords& words, std::size_t columns) {
  const engine::Progress::Reading& now = words.now;
  const std::string phase = plain_words(now.phase), rate = rate_text(words.megabytes_per_s);
  const std::string percent = words.percent ? fmt::format("{:.0f} %", std::floor(*words.percent)) : "";
  const std::string left = words.left_s ? duration_text(*words.left_s) + " left" : "";
  const std::string moved = words.percent || now.bytes == 0 ? "" : decimal_bytes_text(now.bytes);
  const std::string number = now.number == 0                            ? ""
                             : now.phases > now.number || words.percent ? fmt::format("{} of {}", now.number, now.phases)
                                                                        : fmt::format("{}", now.number);
  const std::string of_phases = number.empty() ? phase : fmt::format("phase {}: {}", number, phase);
  const std::string texts[] = {joined(std::array{of_phases, moved, percent, rate, left}),
                               joined(std::array{of_phases, moved, percent, left}),
                               joined(std::array{number.empty() ? phase : "phase " + number, moved, percent, left}),
                               joined(std::array{number, moved, percent, left}),
                               joined(std::array{percent.empty() ? phase : percent, left}),
                               percent.empty() ? phase : percent};
  return first_that_fits(texts, columns);
}

std::string records_text(std::uint64_t records) { return fmt::format("{} record{}", records, records == 1 ? "" : "s"); }

std::string summary_text(const JobSummary& summary, double elapsed_s, std::size_t columns) {
  const std::string what = fmt::format("{} {}", summary.verb, decimal_bytes_text(summary.bytes));
  const std::string seconds = elapsed_s < 60 ? fmt::format("{:.1f} s", elapsed_s) : duration_text(elapsed_s);
  const std::string done = fmt::format("{} in {}", what, seconds);
  const std::string rate = elapsed_s > 0 ? rate_text(static_cast<double>(summary.bytes) / 1e6 / elapsed_s) : "";
  const std::string texts[] = {joined(std::array{done, rate, summary.more}), joined(std::array{done, rate}), done, what};
  return first_that_fits(texts, columns);
}

}  // namespace ecosort::cli
