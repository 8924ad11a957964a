// Logs when each phase of a sort began and ended, and what moved in it: for --stats, --events and the power harness.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "io/reactor.h"

namespace ecosort::engine {

// Times are CLOCK_MONOTONIC seconds, as every meter reading of the harness.
struct PhaseRecord {
  std::string name;
  double begin_s = 0, end_s = 0;
  io::Traffic traffic;  // moved within the phase
};

[[nodiscard]] double monotonic_seconds() noexcept;
[[nodiscard]] double realtime_seconds() noexcept;

// Not thread-safe. Phases follow each other and do not nest, except "total", which spans them all.
class PhaseLog {
 public:
  // `events_path` empty: no events file. IoError if it cannot be created. Events are flushed as they happen; one that cannot be
  // written does not end hours of work: the file is then incomplete, and check_written says so.
  explicit PhaseLog(const std::string& events_path);

  // IoError if an event could not be written.
  void check_written() const;

  void begin(const std::string& name, const io::Traffic& so_far);
  void end(const io::Traffic& so_far);  // the phase begun last
  [[nodiscard]] const std::vector<PhaseRecord>& phases() const noexcept { return phases_; }

  void event(const char* kind, const std::string& phase);

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, CloseFile> file_;
  std::vector<PhaseRecord> phases_;
  io::Traffic at_begin_;
  int write_error_ = 0;  // errno of the first event that could not be written
};

}  // namespace ecosort::engine
