// Chooses which runs are merged first where one merge cannot take all of them: adjacent ones, as few as need be in each pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/rows/merge_cursors.h"

namespace ecosort::engine::rows {

struct MergeGroup {
  std::size_t first = 0;  // of the runs
  MergeFit fit;           // how many
};

class MergeGroups {
 public:
  explicit MergeGroups(const planner::LinePlan& plan) : plan_(plan) {}

  // The next group, which one run will take the place of, in `runs` as they are by then. Nothing: one merge takes all of them.
  // NotEnoughMemory where not even two fit.
  [[nodiscard]] std::optional<MergeGroup> next(const std::vector<MergeInput>& runs);

 private:
  const planner::LinePlan& plan_;
  std::size_t first_ = 0;
};

// Returns the bytes of the rows of a run, or of a file that can be read again.
[[nodiscard]] std::uint64_t bytes_of(const MergeInput& input);
[[nodiscard]] std::uint64_t bytes_of(const std::vector<MergeInput>& inputs);

// Returns how many bytes the merges of groups will read, as far as the lengths of lines do not change what fits.
[[nodiscard]] std::uint64_t intermediate_bytes(const planner::LinePlan& plan, const std::vector<MergeInput>& runs);

}  // namespace ecosort::engine::rows
