#include "cli/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>

#include "base/errors.h"
#include "cli/say.h"
#include "cli/terminal.h"

namespace ecosort::cli {

namespace {

using engine::Phase;
using engine::Progress;

constexpr double shortest_s = 0.1;  // a rate over less says nothing
constexpr const char* erase_line = "\r\033[K";

// The pace of the present phase and of the whole job.
class Pace {
 public:
  explicit Pace(double began_s) : job_began_s_(began_s), phase_began_s_(began_s) {}

  void update(const Progress& progress) {
    const double now_s = engine::monotonic_seconds();
    words_.now = progress.read();
    if (words_.now.phase != phase_) {
      phase_ = words_.now.phase;
      phase_began_s_ = now_s;
    }
    const double took = now_s - phase_began_s_;
    words_.megabytes_per_s = took >= shortest_s ? static_cast<double>(words_.now.bytes) / 1e6 / took : 0;
    job_.update(words_.now, now_s - job_began_s_);
    words_.percent = job_.percent();
    words_.left_s = job_.left_s();
    words_.phase_left_s = job_.phase_left_s();
  }

  [[nodiscard]] const ProgressWords& words() const { return words_; }

 private:
  double job_began_s_, phase_began_s_;
  Phase phase_ = Phase::starting;
  JobPace job_;
  ProgressWords words_;
};

std::string number_or_null(std::optional<double> number) { return number ? fmt::format("{:.1f}", *number) : "null"; }

// Percent and eta_s are those of the phase, those that begin with job_ of all of it.
std::string json_text(const ProgressWords& words) {
  const Progress::Reading& now = words.now;
  std::optional<double> percent;
  if (now.total_bytes > 0) percent = std::min(100.0, 100 * static_cast<double>(now.bytes) / static_cast<double>(now.total_bytes));
  return fmt::format(
      R"({{"schema":"ecosort.progress/1","phase":"{}","bytes":{},"total_bytes":{},"percent":{},"megabytes_per_s":{:.1f},"eta_s":{},)"
      R"("phase_number":{},"phases":{},"job_percent":{},"job_eta_s":{}}})"
      "\n",
      engine::to_string(now.phase), now.bytes, now.total_bytes, number_or_null(percent), words.megabytes_per_s,
      number_or_null(words.phase_left_s), now.number, now.phases, number_or_null(words.percent), number_or_null(words.left_s));
}

bool is_mixed_with(const std::string& output) {
  return (output == "-" || output == "/dev/stdout") && ::isatty(STDOUT_FILENO) != 0;
}

}  // namespace

ProgressMode progress_mode(const std::string& text, bool quiet) {
  if (text == "auto") return quiet ? ProgressMode::none : ProgressMode::automatic;
  if (text == "none") return ProgressMode::none;
  if (text == "json") return ProgressMode::json;
  throw UsageError(fmt::format("--progress: '{}' is none of auto, none, json", text));
}

ProgressLine::ProgressLine(const Progress& progress, ProgressMode mode, const std::string& output)
    : progress_(progress), is_json_(mode == ProgressMode::json), began_s_(engine::monotonic_seconds()) {
  if (mode == ProgressMode::none) return;
  if (mode == ProgressMode::automatic && (::isatty(STDERR_FILENO) == 0 || is_mixed_with(output))) return;
  thread_ = std::thread([this] { show_until_stopped(); });
}

ProgressLine::~ProgressLine() { stop(); }

void ProgressLine::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  stop_signal_.notify_all();
  thread_.join();
}

void ProgressLine::finish(const JobSummary& summary) {
  if (!thread_.joinable()) return;
  stop();
  if (is_json_) return;
  say_line(summary_text(summary, engine::monotonic_seconds() - began_s_, terminal_columns(STDERR_FILENO)));
}

void ProgressLine::show_until_stopped() {
  Pace pace(began_s_);
  std::unique_lock lock(mutex_);
  const auto interval = std::chrono::milliseconds(is_json_ ? 500 : 250);
  while (!stop_signal_.wait_for(lock, interval, [this] { return stop_; })) {
    pace.update(progress_);
    say(is_json_ ? json_text(pace.words()) : erase_line + progress_text(pace.words(), terminal_columns(STDERR_FILENO)));
  }
  if (is_json_) {
    pace.update(progress_);
    say(json_text(pace.words()));
  } else {
    say(erase_line);
  }
}

}  // namespace ecosort::cli
