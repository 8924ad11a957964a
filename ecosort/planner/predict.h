// Predicts what a planned sort will take on the machine of a profile: seconds, CPU seconds, joules, and what limits it.
//
// By the terms to which ecosort-tune fits its models (tuning/ecosort_tuning/model.py, resources.py, runs.py); a test holds both
// against each other. A phase takes as long as its slowest resource, times a factor from measured runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "planner/packed_size.h"
#include "planner/plan.h"
#include "planner/profile.h"

namespace ecosort::planner {

inline constexpr const char* processor = "processor";  // among the resources; all others are uses of the drive

struct PhasePrediction {
  std::string name;  // "run_formation", "merge"
  double seconds = 0;
  std::uint64_t bytes_read = 0, bytes_written = 0;
  std::vector<std::pair<std::string, double>> times;  // seconds that each resource needs, of which the greatest counts
  double factor = 1;

  [[nodiscard]] const std::string& bottleneck() const;
};

// Says what is assumed of runs that are compressed. CPU seconds are among those of the prediction.
struct PackingPrediction {
  std::string codec;
  bool transposes = false;
  std::string why;
  double ratio = 1;  // of records to what is stored of them
  double pack_s = 0, unpack_s = 0;
  std::uint64_t sample_bytes = 0;
};

struct Prediction {
  std::vector<PhasePrediction> phases;
  double seconds = 0, cpu_s = 0;
  std::uint64_t bytes_moved = 0, temp_bytes = 0;  // of compressed runs: what they take, where the plan has what they may take
  std::optional<double> joules;
  double saved_by_drive_s = 0, saved_by_processor_s = 0;  // if it were twice as fast
  std::optional<PackingPrediction> packing;               // nothing: runs are not compressed
  std::vector<std::string> notes;

  [[nodiscard]] const char* help_most() const { return saved_by_drive_s >= saved_by_processor_s ? "drive" : "processor"; }
};

// Either a prediction, or why there is none and what to do about it.
struct MaybePrediction {
  std::optional<Prediction> prediction;
  std::string absent;
};

// The runs are stored as they are.
[[nodiscard]] MaybePrediction predict(const RecordPlan& plan, const Profile& profile);
// The runs are compressed as a sample says (job/predict.h takes it).
[[nodiscard]] MaybePrediction predict(const RecordPlan& plan, const Profile& profile, const SampledPacking& packed);

}  // namespace ecosort::planner
