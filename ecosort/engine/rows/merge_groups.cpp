#include "engine/rows/merge_groups.h"

#include <algorithm>

#include "base/errors.h"
#include "base/memory.h"
#include "planner/files_plan.h"

namespace ecosort::engine::rows {
namespace {

// A run among these that has more than twice the bytes of the others together, as one that lies in an input may have; else `end`.
std::size_t giant_among(const std::vector<MergeInput>& runs, std::size_t first, std::size_t end) {
  std::uint64_t all = 0;
  std::size_t giant = end;
  for (std::size_t i = first; i < end; ++i) all += runs[i].run.bytes;
  for (std::size_t i = first; i < end; ++i)
    if (runs[i].run.bytes > 2 * (all - runs[i].run.bytes)) giant = i;
  return giant;
}

// Returns with how much memory any two neighbours can be merged, to an eighth; 0: not known. Coders may leave three quarters of
// it to the plan.
std::uint64_t memory_for_pairs(planner::LinePlan plan, const std::vector<MergeInput>& runs) {
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 40U;
  for (std::size_t i = 0; i + 1 < runs.size();) {
    if (fit_merge(plan, runs, i).inputs >= 2)
      ++i;
    else if ((plan.memory_bytes += round_up(plan.memory_bytes / 8, 1024)) > most_bytes)
      return 0;
  }
  return plan.memory_bytes + plan.memory_bytes / 3;
}

}  // namespace

std::uint64_t bytes_of(const MergeInput& input) {
  return !input.is_plain ? input.run.bytes : input.file ? input.file->facts().bytes_to_read() : 0;
}

std::uint64_t bytes_of(const std::vector<MergeInput>& inputs) {
  std::uint64_t bytes = 0;
  for (const MergeInput& input : inputs) bytes += bytes_of(input);
  return bytes;
}

std::uint64_t intermediate_bytes(const planner::LinePlan& plan, const std::vector<MergeInput>& runs) {
  const std::size_t fan_in = std::max<std::size_t>(fit_merge(plan, runs, 0).inputs, 2);
  std::vector<std::uint64_t> sizes;
  sizes.reserve(runs.size());
  for (const MergeInput& run : runs) sizes.push_back(bytes_of(run));
  return planner::passes_of(sizes, {fan_in}).moved_bytes;
}

// A giant is passed over as long as there are others: it had better be moved once, by the last merge.
std::optional<MergeGroup> MergeGroups::next(const std::vector<MergeInput>& runs) {
  const MergeFit all = fit_merge(plan_, runs, 0);
  if (all.inputs >= runs.size()) return std::nullopt;
  for (std::size_t passed = 0;;) {
    if (runs.size() - std::min(first_, runs.size()) < 2) first_ = 0;
    MergeFit fit = fit_merge(plan_, runs, first_);
    if (fit.inputs >= 2) {
      fit.inputs = std::min(fit.inputs, std::max<std::size_t>(runs.size() - all.inputs + 1, 2));
      const std::size_t end = first_ + fit.inputs, giant = giant_among(runs, first_, end);
      if (giant == end || passed == runs.size()) return MergeGroup{first_++, fit};
      ++passed;
      first_ = giant + 1;
      continue;
    }
    if (first_ == 0)
      throw NotEnoughMemory("two runs have rows that are too long to be merged with this memory", plan_.memory_bytes,
                            memory_for_pairs(plan_, runs));
    first_ = 0;
  }
}

}  // namespace ecosort::engine::rows
