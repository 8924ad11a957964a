// Shows how far a sort is, on standard error: a line on a terminal, or JSON lines for programs.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "cli/sort_options.h"
#include "pipeline/progress.h"

namespace ecosort::cli {

// One thread that sleeps; it lives from construction to destruction and removes its line at the end.
class ProgressLine {
 public:
  ProgressLine(const pipeline::Progress& progress, ProgressMode mode);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

 private:
  void show_until_stopped(bool json);

  const pipeline::Progress& progress_;
  std::mutex mutex_;
  std::condition_variable stop_signal_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace ecosort::cli
