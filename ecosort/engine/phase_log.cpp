#include "engine/phase_log.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <ctime>

#include "base/errors.h"
#include "engine/progress.h"

namespace ecosort::engine {

namespace {

double seconds(clockid_t clock) noexcept {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

const char* to_string(Phase phase) noexcept {
  static constexpr std::array names{"starting", "run formation", "intermediate merge", "merge",  "sync", "reread",
                                    "done",     "put back",      "partition",          "sample", "gen",  "check",
                                    "recheck"};
  return names[static_cast<std::size_t>(phase)];
}

double monotonic_seconds() noexcept { return seconds(CLOCK_MONOTONIC); }
double realtime_seconds() noexcept { return seconds(CLOCK_REALTIME); }

PhaseLog::PhaseLog(const std::string& events_path) : path_(events_path) {
  if (path_.empty()) return;
  file_.reset(std::fopen(path_.c_str(), "we"));
  if (!file_) throw IoError::from_call("create", path_, errno);
}

void PhaseLog::begin(const std::string& name, const io::Traffic& so_far) {
  event("begin", name);
  phases_.push_back({name, monotonic_seconds(), 0, {}});
  at_begin_ = so_far;
}

void PhaseLog::end(const io::Traffic& so_far) {
  PhaseRecord& phase = phases_.back();
  phase.end_s = monotonic_seconds();
  phase.traffic = so_far - at_begin_;
  event("end", phase.name);
}

void PhaseLog::event(const char* kind, const std::string& phase) {
  if (!file_ || write_error_ != 0) return;
  const std::string line =
      fmt::format(R"({{"schema":"ecosort.events/1","event":"{}","phase":"{}","monotonic_s":{:.6f},"realtime_s":{:.6f}}})"
                  "\n",
                  kind, phase, monotonic_seconds(), realtime_seconds());
  if (std::fputs(line.c_str(), file_.get()) < 0 || std::fflush(file_.get()) != 0) write_error_ = errno;
}

void PhaseLog::check_written() const {
  if (write_error_ != 0) throw IoError::from_call("write", path_, write_error_);
}

}  // namespace ecosort::engine
