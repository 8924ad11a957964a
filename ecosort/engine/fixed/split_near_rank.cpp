#include "engine/fixed/split_near_rank.h"

#include <algorithm>

#include "engine/fixed/split.h"

namespace ecosort::engine {

namespace {

constexpr std::uint64_t first_step = 16;  // of a search around a guess, in records

// Of the records that stand `share` records behind the beginning of each range, or at its end, the median.
Bound median_of(const std::vector<RunView>& views, const std::vector<RunRange>& ranges, std::uint64_t share,
                const records::Encoder& encoder) {
  std::vector<Bound> bounds;
  for (std::uint32_t run = 0; run < views.size(); ++run) {
    const RunRange range = ranges[run];
    if (range.begin == range.end) continue;
    bounds.push_back({true, views[run].record(std::min(range.begin + share, range.end - 1)), run});
  }
  if (bounds.empty()) return {};
  const auto middle = bounds.begin() + static_cast<std::ptrdiff_t>(bounds.size() / 2);
  std::nth_element(bounds.begin(), middle, bounds.end(), [&encoder](const Bound& a, const Bound& b) {
    const int order = encoder.compare(a.record, b.record);
    return order != 0 ? order < 0 : a.run < b.run;
  });
  return *middle;
}

// The records of a part of `range` around `guess` that surely holds the first one for which `is_after` holds; the part ends with
// the range, or where it holds.
template <class IsAfter>
RunRange part_around(RunRange range, std::uint64_t guess, IsAfter is_after) {
  RunRange part{guess, guess};
  if (guess < range.end && !is_after(guess)) {
    for (std::uint64_t step = first_step; part.end < range.end; step *= 2) {
      part.begin = part.end + 1;
      part.end = std::min(part.begin + step, range.end);
      if (part.end < range.end && is_after(part.end)) break;
    }
    return part;
  }
  for (std::uint64_t step = first_step; part.begin > range.begin; step *= 2) {
    part.end = part.begin;
    part.begin = std::max(part.end, range.begin + step) - step;
    if (!is_after(part.begin)) break;
  }
  return part;
}

}  // namespace

std::optional<std::vector<std::uint64_t>> split_near_rank(const std::vector<RunView>& views, const std::vector<RunRange>& ranges,
                                                          std::uint64_t rank, std::uint64_t tolerance,
                                                          const records::Encoder& encoder) {
  const auto filled = std::count_if(ranges.begin(), ranges.end(), [](const RunRange& range) { return range.begin < range.end; });
  const std::uint64_t share = rank / std::max<std::uint64_t>(1, static_cast<std::uint64_t>(filled));
  const Bound bound = median_of(views, ranges, share, encoder);
  std::vector<std::uint64_t> cuts;
  std::uint64_t reached = 0;
  for (std::uint32_t run = 0; run < views.size(); ++run) {
    const RunRange range = ranges[run];
    const auto is_after = [&](std::uint64_t number) {
      return first_after(views[run], {number, number + 1}, run, bound, encoder) == number;
    };
    const RunRange part = part_around(range, std::min(range.begin + share, range.end), is_after);
    cuts.push_back(range.begin < range.end ? first_after(views[run], part, run, bound, encoder) : range.begin);
    reached += cuts.back() - range.begin;
    if (reached > rank + tolerance) return std::nullopt;
  }
  if (reached + tolerance < rank) return std::nullopt;
  return cuts;
}

}  // namespace ecosort::engine
