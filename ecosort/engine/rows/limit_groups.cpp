#include "engine/rows/limit_groups.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "formats/lines/index_lines.h"

namespace ecosort::engine::rows {

using lines::GroupBounds;
using lines::LineRun;

void LimitGroups::set_bounds(LineRun& run) const {
  const std::scoped_lock lock(mutex_);
  run.group_bounds = bounds_;
}

void LimitGroups::set_group_bounds(std::shared_ptr<const GroupBounds> bounds) {
  const std::scoped_lock lock(mutex_);
  bounds_ = std::move(bounds);
}

void LimitGroups::sort_and_cut(LineRun& run) {
  std::vector<lines::GroupCut> cuts;
  const std::size_t before = run.count;
  sort(run, &cuts);
  turn_round(run);
  read_ = left_out_ = 0;
  const bool has_shrunk = run.count <= before / 2;
  next_sort_ = has_shrunk ? std::max(2 * run.count, least_rows_to_cut) : SIZE_MAX;
  notes_cuts_ |= has_shrunk;
  if (cuts.empty() || !notes_cuts_) return;
  const GroupBounds known = bounds_ ? *bounds_ : GroupBounds(format_);  // no other thread changes them
  set_group_bounds(std::make_shared<const GroupBounds>(known.with(std::move(cuts))));
}

// Some rows show whether bounds drop enough of them: a row that none drops was looked up for nothing.
void LimitGroups::after_batch(LineRun& run, std::uint64_t rows, std::uint64_t behind) {
  constexpr std::uint64_t least_share = 4;
  read_ += rows;
  left_out_ += behind;
  if (run.group_bounds && read_ >= least_rows_to_cut && left_out_ * least_share < read_) {
    next_sort_ = SIZE_MAX;
    notes_cuts_ = false;
    set_group_bounds(nullptr);
  }
  if (run.count >= next_sort_) sort_and_cut(run);
}

// Rows of groups that stay are sorted each time: where they are many, runs cost less.
bool LimitGroups::make_room(LineRun& run) {
  if (!leaves_room_) return false;
  sort_and_cut(run);
  leaves_room_ = leaves_room(run, 1);
  run.is_ordered = !leaves_room_;  // it is stored as it is
  return leaves_room_;
}

// A run that was cut before shows nothing. Where all rows are in one run, none was there to be judged by.
hash::MultisetHash LimitGroups::drop(LineRun& run) {
  constexpr std::size_t least_share = 16;
  hash::MultisetHash dropped;
  if (!shrinks_runs_) return dropped;
  const std::size_t before = run.count;
  lines::drop_equal(run, format_, groups_.kept_in_runs(), dropped);
  if (!run.is_ordered && before - run.count < before / least_share) shrinks_runs_ = false;
  return dropped;
}

}  // namespace ecosort::engine::rows
