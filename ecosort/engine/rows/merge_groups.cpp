#include "engine/rows/merge_groups.h"

#include <algorithm>

#include "base/errors.h"

namespace ecosort::lines {

std::optional<MergeGroup> MergeGroups::next(const std::vector<MergeInput>& runs) {
  const MergeFit all = fit_merge(plan_, runs, 0);
  if (all.inputs >= runs.size()) return std::nullopt;
  while (true) {
    if (runs.size() - std::min(first_, runs.size()) < 2) first_ = 0;
    MergeFit fit = fit_merge(plan_, runs, first_);
    if (fit.inputs >= 2) {
      fit.inputs = std::min(fit.inputs, std::max<std::size_t>(runs.size() - all.inputs + 1, 2));
      return MergeGroup{first_++, fit};
    }
    if (first_ == 0) throw NotEnoughMemory("two lines are too long for the memory at a time", plan_.memory_bytes);
    first_ = 0;
  }
}

}  // namespace ecosort::lines
