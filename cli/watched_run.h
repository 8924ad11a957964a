// Surrounds the work of every command that sorts: signals, progress, events, and the reports when it is done.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "cli/progress_line.h"
#include "cli/report_files.h"
#include "cli/request_trace.h"
#include "cli/signals.h"
#include "job/session.h"

namespace ecosort::cli {

// A user wants to see this of a run: the options of these names.
struct RunReports {
  std::string stats, events, progress = "auto";
  bool quiet = false;
  std::string output{};  // where the result goes: a progress line does not mix with it on a terminal
  std::string trace{};
  std::string_view teller = "ecosort";  // notices begin with it

  [[nodiscard]] ReportFiles files() const { return {stats, events, trace}; }
  // A line on standard error, unless it is empty or the user wants none. The stats get it, too, for programs that print none.
  void print(const std::string& notice) const;

  std::shared_ptr<std::vector<std::string>> printed = std::make_shared<std::vector<std::string>>();  // also where it is quiet
};

// One run of a command, from its first event to its last report. One at a time per process (see SignalGuard).
class WatchedRun {
 public:
  // Creates the files of the events and of the trace: IoError.
  explicit WatchedRun(RunReports wanted) : wanted_(std::move(wanted)), log_(wanted_.events) {
    if (!wanted_.trace.empty()) trace_.emplace(wanted_.trace);
  }
  WatchedRun(const WatchedRun&) = delete;
  WatchedRun& operator=(const WatchedRun&) = delete;

  // Does `work(engine::Environment)` and returns what it returns; the phase "total" spans it. `sum_up(report)` is the JobSummary
  // of it. The queue of `session` is open. Where requests are traced, none may be submitted when this is gone.
  template <typename Work, typename SumUp>
  auto watch(job::Session& session, const Work& work, const SumUp& sum_up) {
    if (trace_) session.trace([this](const io::TraceEvent& event) { trace_->add(event); });
    const SignalGuard signals(&session.queue());
    ProgressLine line(progress_, progress_mode(wanted_.progress, wanted_.quiet), wanted_.output);
    log_.event("begin", "total");
    auto report = work(session.environment(progress_, log_, signals.received()));
    log_.event("end", "total");
    line.finish(sum_up(report));
    return report;
  }

  // The result is there by now: a report that cannot be written does not take it back, and the IoError says so by `done`, such as
  // "the sorted output is complete". Prints the notices before.
  void write_reports(const std::string& done, const std::vector<std::string>& notices, const std::function<Json()>& stats);

  [[nodiscard]] const engine::PhaseLog& log() const noexcept { return log_; }

 private:
  RunReports wanted_;
  std::optional<RequestTrace> trace_;
  engine::PhaseLog log_;
  engine::Progress progress_;
};

}  // namespace ecosort::cli
