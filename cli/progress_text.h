// Writes the progress line and the line at the end, in as many columns as there are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "job/session.h"

namespace ecosort::cli {

// Computes how much of the whole job is done, and how long the rest will take at the pace of the present phase. A percentage only
// grows; a time left grows where the drive becomes slower.
class JobPace {
 public:
  // `elapsed_s` since the job began, never less than before.
  void update(const engine::Progress::Reading& now, double elapsed_s);

  [[nodiscard]] std::optional<double> percent() const { return percent_; }  // below 100 until the job is done
  [[nodiscard]] std::optional<double> left_s() const { return left_s_; }
  [[nodiscard]] std::optional<double> phase_left_s() const { return phase_left_s_; }  // of the last phase: the same

 private:
  void note_pace(const engine::Progress::Reading& now, double elapsed_s);

  std::optional<double> percent_, left_s_, phase_left_s_;
  engine::Phase phase_ = engine::Phase::done;  // that none begins with
  double began_share_ = 0, began_s_ = 0;       // of the phase, as it was seen first
  double share_per_s_ = 0;                     // 0: unknown
};

struct ProgressWords {
  engine::Progress::Reading now;
  std::optional<double> percent, left_s, phase_left_s;  // of the job; the last one of the phase
  double megabytes_per_s = 0;                           // of the phase; 0: unknown
};

// "phase 1 of 2: reading and sorting, 41 %, 512 MB/s, 1 min 20 s left", or less of it: shorter than `columns`.
[[nodiscard]] std::string progress_text(const ProgressWords& words, std::size_t columns);

// Says what was done: "sorted", and how many bytes; `more` such as "100 records".
struct JobSummary {
  std::string verb;
  std::uint64_t bytes = 0;
  std::string more;
};

// "1 record", "100 records".
[[nodiscard]] std::string records_text(std::uint64_t records);

// "sorted 10.0 GB in 20.1 s, 498 MB/s, 100000000 records", likewise.
[[nodiscard]] std::string summary_text(const JobSummary& summary, double elapsed_s, std::size_t columns);

}  // namespace ecosort::cli
