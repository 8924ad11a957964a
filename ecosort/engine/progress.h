// Knows how far a job is: written by the coordinator (add_bytes by any thread), read by its display (a terminal line, a JSON
// stream).
//
//   job    |==========================================|..........|      bytes that all phases read and write
//   phases | run formation: its share | merge: its share | reread |     within a phase: bytes of total_bytes
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

namespace ecosort::engine {

enum class Phase : std::uint8_t {
  starting,
  run_formation,
  intermediate_merge,
  merge,
  sync,
  reread,
  done,
  put_back,
  partition,
  sample,
  generate,
  check,
  recheck  // of what a resumed job wrote before
};
[[nodiscard]] const char* to_string(Phase phase) noexcept;

// The coordinator calls it between two steps of the work; what it throws ends the sort.
class ProgressListener {
 public:
  ProgressListener() = default;
  ProgressListener(const ProgressListener&) = delete;
  ProgressListener& operator=(const ProgressListener&) = delete;
  virtual ~ProgressListener() = default;
  virtual void begin_phase(Phase phase, std::uint64_t total_bytes) = 0;
  virtual void moved(std::uint64_t bytes) = 0;  // of the phase in all, at most ten times a second
};

// Readers are thread-safe.
class Progress {
 public:
  explicit Progress(ProgressListener* listener = nullptr) : listener_(listener) {}

  // Everything at one moment.
  struct Reading {
    Phase phase = Phase::starting;
    std::uint64_t bytes = 0, total_bytes = 0;  // of the phase; 0: unknown
    unsigned number = 0, phases = 0;           // this phase is that one of so many; 0: unknown, or before the first
    double share = -1;                         // of the whole job that is done, 0 to 1; below 0: unknown
    double share_at_end = -1;                  // of it when the phase is over; likewise
  };

  // The whole job: how many phases it has that move data, and the bytes that they read and write; of these `done` lie behind it.
  // Before the first phase, and again when more is known (a stream has ended).
  void plan_job(unsigned phases, std::uint64_t bytes, std::uint64_t done = 0) {
    const std::lock_guard lock(mutex_);
    phases_ = phases;
    job_bytes_ = bytes;
    job_done_ = done;
    share_bytes_ = 0;
  }

  // Changes what the whole job moves, where that shows within a phase. Nothing that is done changes.
  void change_job_bytes(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    job_bytes_ = bytes;
  }

  // `share_bytes` of the job are done with this phase; 0: it moves no data and has no number. Several steps of the same kind,
  // such as intermediate merges, have one number.
  void begin(Phase phase, std::uint64_t total_bytes, std::uint64_t share_bytes = 0) {
    note_begin(phase, total_bytes, share_bytes);
    if (listener_ != nullptr) listener_->begin_phase(phase, total_bytes);
  }

  // A job that continues where another process stopped: the next phase is number `before` + 1.
  void skip_phases(unsigned before) {
    const std::lock_guard lock(mutex_);
    number_ = before;
  }

  // Any thread where no one listens.
  void add_bytes(std::uint64_t bytes) {
    bytes_ += bytes;
    if (listener_ != nullptr) tell();
  }

  [[nodiscard]] Phase phase() const noexcept { return phase_; }

  // Returns the bytes of the job that are left when the present phase is over.
  [[nodiscard]] std::uint64_t job_bytes_left() const {
    const std::lock_guard lock(mutex_);
    return job_bytes_ - std::min(job_bytes_, job_done_ + share_bytes_);
  }

  [[nodiscard]] Reading read() const {
    const std::lock_guard lock(mutex_);
    Reading now{phase_, bytes_, total_, number_, std::max(phases_, number_)};
    if (phase_ == Phase::done) now.share = now.share_at_end = 1;
    if (job_bytes_ == 0 || phase_ == Phase::done) return now;
    const double of_phase = total_ == 0 ? 0 : std::min(1.0, static_cast<double>(now.bytes) / static_cast<double>(total_));
    now.share = share_with(of_phase);
    now.share_at_end = share_with(1);
    return now;
  }

 private:
  // Returns the share of the job that is done, where that part of the phase is done.
  [[nodiscard]] double share_with(double of_phase) const {
    const double done = static_cast<double>(job_done_) + of_phase * static_cast<double>(share_bytes_);
    return std::min(done / static_cast<double>(job_bytes_), 1.0);
  }

  void note_begin(Phase phase, std::uint64_t total_bytes, std::uint64_t share_bytes) {
    const std::lock_guard lock(mutex_);
    job_done_ += share_bytes_;
    if (share_bytes > 0 && phase != numbered_) {
      ++number_;
      numbered_ = phase;
    }
    share_bytes_ = share_bytes;
    bytes_ = 0;
    total_ = total_bytes;
    phase_ = phase;
  }

  void tell() {
    const auto now = std::chrono::steady_clock::now();
    if (now - told_ < std::chrono::milliseconds(100)) return;
    told_ = now;
    listener_->moved(bytes_);
  }

  ProgressListener* const listener_;
  std::chrono::steady_clock::time_point told_;
  mutable std::mutex mutex_;  // for what belongs together; never held for long
  std::atomic<Phase> phase_ = Phase::starting;
  std::atomic<std::uint64_t> bytes_ = 0, total_ = 0;
  Phase numbered_ = Phase::starting;
  unsigned number_ = 0, phases_ = 0;
  std::uint64_t job_bytes_ = 0, job_done_ = 0, share_bytes_ = 0;
};

}  // namespace ecosort::engine
