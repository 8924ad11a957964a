// Which runs are merged first where one merge cannot take all of them: adjacent ones, as few as need be in each pass.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "engine/rows/merge_cursors.h"

namespace ecosort::lines {

struct MergeGroup {
  std::size_t first = 0;  // of the runs
  MergeFit fit;           // how many
};

class MergeGroups {
 public:
  explicit MergeGroups(const LinePlan& plan) : plan_(plan) {}

  // The next group, which one run will take the place of, in `runs` as they are by then. Nothing: one merge takes all of them.
  // NotEnoughMemory where not even two fit.
  [[nodiscard]] std::optional<MergeGroup> next(const std::vector<MergeInput>& runs);

 private:
  const LinePlan& plan_;
  std::size_t first_ = 0;
};

}  // namespace ecosort::lines
