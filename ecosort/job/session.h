// The files and the queue of one run, for a command that starts it; and whatever it learns of the run: Progress, PhaseLog, each
// request (TraceEvent), a queue that broke (QueueBroken).
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <utility>

#include "engine/bench.h"
#include "engine/phase_log.h"
#include "engine/progress.h"
#include "io/backends.h"
#include "io/counting_queue.h"
#include "io/posix_storage.h"
#include "io/reactor.h"
#include "planner/plan.h"

namespace ecosort::job {

struct PreparedLines;

// Returns what a queue must accept for this plan.
[[nodiscard]] unsigned queue_depth(const planner::RecordPlan& plan) noexcept;
// Returns what serves a sort by this plan, `io` as Session::open_queue() has it.
[[nodiscard]] io::Backend make_record_queue(const std::string& io, const planner::RecordPlan& plan);

// Outlives the run. One thread; the queue may be notified by any, also by a signal handler.
class Session {
 public:
  Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() = default;

  [[nodiscard]] io::PosixStorage& storage() noexcept { return storage_; }

  // Opens what `io` names, for so many requests in flight; one that was open ends before. UsageError for what is no name, or is
  // not available.
  void open_queue(const std::string& io, unsigned depth);
  void open_queue(const std::string& io, const planner::RecordPlan& plan);
  void open_queue(const std::string& io, const PreparedLines& prepared);
  void close_queue() noexcept;

  // All below: once the queue is open.
  [[nodiscard]] io::Queue& queue() noexcept { return traced_ ? *traced_ : *backend_.queue; }
  [[nodiscard]] const std::string& notice() const noexcept { return backend_.notice; }  // for the user; may be empty
  [[nodiscard]] const char* backend_name() const noexcept { return backend_.queue->backend_name(); }

  // Every request from now on is reported to `sink`, until the queue ends.
  void trace(io::TraceSink sink) { traced_.emplace(*backend_.queue, backend_.depth, std::move(sink)); }

  // Returns what a run works in: these, and who looks on.
  [[nodiscard]] engine::Environment environment(engine::Progress& progress, engine::PhaseLog& log,
                                                const std::atomic<int>& interrupted) {
    return {storage_, queue(), progress, log, interrupted};
  }

 private:
  io::PosixStorage storage_;
  io::Backend backend_;
  std::optional<io::CountingQueue> traced_;
};

}  // namespace ecosort::job
