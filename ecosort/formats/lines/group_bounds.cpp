#include "formats/lines/group_bounds.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ecosort::lines {
namespace {

bool comes_first(const GroupCut& a, const GroupCut& b) { return a.last_kept.is_before(b.last_kept); }

std::size_t bytes_of(const GroupCut& cut) noexcept { return sizeof cut + 3 * cut.row.size(); }

}  // namespace

GroupBounds GroupBounds::with(std::vector<GroupCut> cuts) const {
  std::vector<GroupCut> all;
  all.reserve(cuts_.size() + cuts.size());
  std::merge(cuts_.begin(), cuts_.end(), std::move_iterator(cuts.begin()), std::move_iterator(cuts.end()),
             std::back_inserter(all), comes_first);
  GroupBounds bounds(*format_);
  for (GroupCut& cut : all) bounds.take(std::move(cut));
  bounds.forget_some();
  bounds.list_windows();
  return bounds;
}

// A cut behind all others. One group has one: from the first of the rows that stayed last to the last one dropped.
void GroupBounds::take(GroupCut cut) {
  constexpr int in_another_place = 1;
  if (cuts_.empty() || !format_->are_grouped(in_another_place, cuts_.back().row, cut.row)) {
    cuts_.push_back(std::move(cut));
    return;
  }
  GroupCut& group = cuts_.back();
  group.dropped += cut.dropped;
  if (group.last_dropped.is_before(cut.last_dropped)) group.last_dropped = std::move(cut.last_dropped);
}

// Keeps those that dropped most, where the groups are too many for the memory.
void GroupBounds::forget_some() {
  std::size_t bytes = 0;
  for (const GroupCut& cut : cuts_) bytes += bytes_of(cut);
  if (bytes <= most_bytes) return;
  std::vector<std::uint64_t> dropped;
  dropped.reserve(cuts_.size());
  for (const GroupCut& cut : cuts_) dropped.push_back(cut.dropped);
  const std::size_t stay = cuts_.size() / 2;
  std::ranges::nth_element(dropped, dropped.begin() + static_cast<std::ptrdiff_t>(cuts_.size() - stay));
  const std::uint64_t least = dropped[cuts_.size() - stay];
  std::erase_if(cuts_, [least](const GroupCut& cut) { return cut.dropped < least; });
  if (cuts_.size() > stay) cuts_.erase(cuts_.begin() + static_cast<std::ptrdiff_t>(stay), cuts_.end());
}

void GroupBounds::list_windows() {
  windows_.reserve(cuts_.size());
  for (const GroupCut& cut : cuts_) windows_.push_back(cut.last_kept.window());
}

// The cut may be that of the last window in front of the row's. Where several have one window, no one looks at their rows.
bool GroupBounds::is_behind(records::KeyWindow window, Text row) const {
  const auto behind = std::ranges::upper_bound(windows_, window);
  if (behind == windows_.begin()) return false;
  const auto at = static_cast<std::size_t>(behind - windows_.begin()) - 1;
  if (at > 0 && windows_[at - 1] >= windows_[at]) return false;
  const GroupCut& cut = cuts_[at];
  return cut.last_kept.is_behind(window, row) && !cut.last_dropped.is_before(window, row);
}

}  // namespace ecosort::lines
