#include "cli/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <csignal>

#include "cli/say.h"

namespace ecosort::cli {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double shortest_s = 0.1;  // a rate over less says nothing

// The rate of the present phase, and what is left of it.
struct Pace {
  pipeline::Phase phase = pipeline::Phase::starting;
  Clock::time_point began = Clock::now();

  struct Reading {
    double percent, megabytes_per_s, eta_s;  // eta < 0: unknown
  };
  Reading read(const pipeline::Progress& progress) {
    if (progress.phase() != phase) {
      phase = progress.phase();
      began = Clock::now();
    }
    const double elapsed = std::chrono::duration<double>(Clock::now() - began).count();
    const auto done = static_cast<double>(progress.bytes());
    const auto total = static_cast<double>(progress.total_bytes());
    const double rate = elapsed >= shortest_s ? done / elapsed : 0;
    return {total > 0 ? std::min(100.0, 100 * done / total) : -1, rate / 1e6, total > 0 && rate > 0 ? (total - done) / rate : -1};
  }
};

void print_line(const pipeline::Progress& progress, Pace& pace) {
  const Pace::Reading r = pace.read(progress);
  std::string line = fmt::format("\r\033[K{}", pipeline::to_string(pace.phase));
  if (r.percent >= 0) line += fmt::format("  {:.0f} %", r.percent);
  if (r.megabytes_per_s > 0) line += fmt::format("  {:.0f} MB/s", r.megabytes_per_s);
  if (r.eta_s >= 0) line += fmt::format("  {:.0f} s left in this phase", r.eta_s);
  say(line);
}

void print_json(const pipeline::Progress& progress, Pace& pace) {
  const Pace::Reading r = pace.read(progress);
  say(fmt::format(
      R"({{"schema":"ecosort.progress/1","phase":"{}","bytes":{},"total_bytes":{},"percent":{},"megabytes_per_s":{:.1f},"eta_s":{}}})"
      "\n",
      pipeline::to_string(pace.phase), progress.bytes(), progress.total_bytes(),
      r.percent < 0 ? "null" : fmt::format("{:.1f}", r.percent), r.megabytes_per_s,
      r.eta_s < 0 ? "null" : fmt::format("{:.1f}", r.eta_s)));
}

}  // namespace

ProgressLine::ProgressLine(const pipeline::Progress& progress, ProgressMode mode) : progress_(progress) {
  if (mode == ProgressMode::none || (mode == ProgressMode::automatic && isatty(STDERR_FILENO) == 0)) return;
  thread_ = std::thread([this, json = mode == ProgressMode::json] { show_until_stopped(json); });
}

ProgressLine::~ProgressLine() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  stop_signal_.notify_all();
  thread_.join();
}

void ProgressLine::show_until_stopped(bool json) {
  Pace pace;
  std::unique_lock lock(mutex_);
  const auto interval = std::chrono::milliseconds(json ? 500 : 250);
  while (!stop_signal_.wait_for(lock, interval, [this] { return stop_; })) {
    if (json)
      print_json(progress_, pace);
    else
      print_line(progress_, pace);
  }
  if (json)
    print_json(progress_, pace);
  else
    say("\r\033[K");
}

}  // namespace ecosort::cli
