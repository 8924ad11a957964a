// Shows how far a job is, on standard error: a line on a terminal, or JSON lines for programs.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "cli/progress_text.h"
#include "job/session.h"

namespace ecosort::cli {

enum class ProgressMode : std::uint8_t { automatic, none, json };

// UsageError for a word that is none of --progress. --quiet shows nothing that was not asked for.
[[nodiscard]] ProgressMode progress_mode(const std::string& text, bool quiet = false);

// One thread that sleeps; it lives from construction to destruction and removes its line at the end.
class ProgressLine {
 public:
  // `output`: where the result goes. "-" or a name of standard output that is a terminal leaves the line out: both would be
  // mixed.
  ProgressLine(const engine::Progress& progress, ProgressMode mode, const std::string& output = "");
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // The job is done: the line is removed, and on a terminal a line that sums up takes its place.
  void finish(const JobSummary& summary);

 private:
  void show_until_stopped();
  void stop();

  const engine::Progress& progress_;
  const bool is_json_;
  double began_s_;
  std::mutex mutex_;
  std::condition_variable stop_signal_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace ecosort::cli
