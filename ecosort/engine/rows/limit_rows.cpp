#include "engine/rows/limit_rows.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "formats/lines/index_lines.h"
#include "formats/lines/late_hash.h"

namespace ecosort::engine::rows {
namespace {

using lines::LineRun;
using lines::RowBound;
using sorting::Entry;

constexpr std::size_t few_rows = 1024;                // of a buffer are not worth a sort
constexpr std::size_t least_rows_to_cut = 1U << 14U;  // of a buffer, of which groups are cut first
constexpr std::size_t samples_of_run = 128;           // a bound by counting is off by no more than this share of each run

// The entries of rows as they came are made downwards.
void turn_round(LineRun& run) { std::reverse(run.entries(), run.entries() + run.count); }

std::shared_ptr<const RowBound> bound_at(const formats::RowFormat& format, const LineRun& run, std::size_t row) {
  const Entry& entry = run.entries()[row];
  return std::make_shared<const RowBound>(format, entry, run.line(entry));
}

// Drops the rows from `first` on of a sorted run, and returns their hash.
hash::MultisetHash drop_from(LineRun& run, const formats::RowFormat& format, std::size_t first) {
  const std::size_t hashed_end = format.hashed_end();
  lines::LateHash dropped(lines::line_kernels());
  for (std::size_t i = first; i < run.count; ++i) {
    const Text row = run.line(run.entries()[i]);
    dropped.add({row.data(), row.size() + hashed_end});
    run.line_bytes -= row.size() + 1;
  }
  dropped.settle();
  std::move_backward(run.entries(), run.entries() + first, run.top());
  run.count = first;
  return dropped.sum();
}

// Moves the rows to the front of the buffer in the order in which they came, which is that of their places.
void move_to_front(LineRun& run) {
  Entry* const entries = run.entries();
  std::sort(entries, entries + run.count, [](const Entry& a, const Entry& b) { return a.index > b.index; });
  std::size_t end = 0;
  for (Entry* entry = run.top(); entry-- > entries;) {
    const Text row = run.line(*entry);
    std::memmove(run.bytes() + end, row.data(), row.size() + 1);
    entry->index = static_cast<std::uint32_t>(end);
    end += row.size() + 1;
  }
  run.kept_bytes = end;
}

}  // namespace

LimitRows::LimitRows(const formats::RowFormat& format, std::uint64_t rows, const GroupPolicy& groups, unsigned threads)
    : format_(format), rows_(rows), groups_(groups), threads_(threads), counted_(rows) {
  if (rows == 0) bound_ = std::make_shared<const RowBound>();
  if (groups.is_limit) next_sort_ = least_rows_to_cut;
}

void LimitRows::set_bounds(LineRun& run) const {
  const std::scoped_lock lock(mutex_);
  run.bound = bound_;
  run.group_bounds = group_bounds_;
}

std::shared_ptr<const RowBound> LimitRows::bound() const {
  const std::scoped_lock lock(mutex_);
  return bound_;
}

hash::MultisetHash LimitRows::beyond() const {
  const std::scoped_lock lock(mutex_);
  return beyond_;
}

hash::MultisetHash LimitRows::repeated() const {
  const std::scoped_lock lock(mutex_);
  return repeated_;
}

void LimitRows::tighten(std::shared_ptr<const RowBound> bound) {
  const std::scoped_lock lock(mutex_);
  if (!bound_ || bound->is_before(*bound_)) bound_ = std::move(bound);
}

// A row that equals the bound may have come before it.
std::size_t LimitRows::rows_to_keep(const LineRun& run) const {
  const std::size_t most = std::min<std::uint64_t>(run.count, rows_);
  const std::shared_ptr<const RowBound> known = bound();
  if (!known) return most;
  const Entry* const entries = run.entries();
  const Entry* const end = std::partition_point(entries, entries + most, [&](const Entry& entry) {
    return !known->is_before({entry.prefix, entry.extension}, run.line(entry));
  });
  return static_cast<std::size_t>(end - entries);
}

void LimitRows::cut(LineRun& run) {
  const std::size_t kept = rows_to_keep(run);
  if (kept > 0 && kept == rows_) tighten(bound_at(format_, run, kept - 1));
  if (kept == run.count) return;
  const hash::MultisetHash dropped = drop_from(run, format_, kept);
  const std::scoped_lock lock(mutex_);
  beyond_ += dropped;
}

void LimitRows::sort_and_cut(LineRun& run) {
  hash::MultisetHash repeated;
  std::vector<lines::GroupCut> cuts;
  const std::size_t before = run.count;
  lines::sort_index(run, format_, threads_);
  lines::drop_equal(run, format_, groups_.kept_in_runs(), repeated, groups_.is_limit ? &cuts : nullptr);
  cut(run);
  turn_round(run);
  read_ = left_out_ = 0;
  const bool has_shrunk = run.count <= before / 2;
  next_sort_ = has_shrunk ? std::max(2 * run.count, least_rows_to_cut) : SIZE_MAX;
  notes_cuts_ |= has_shrunk;
  const std::scoped_lock lock(mutex_);
  repeated_ += repeated;
  if (cuts.empty() || !notes_cuts_) return;
  const lines::GroupBounds known = group_bounds_ ? *group_bounds_ : lines::GroupBounds(format_);
  group_bounds_ = std::make_shared<const lines::GroupBounds>(known.with(std::move(cuts)));
}

// Some rows show whether bounds drop enough of them: a row that none drops was looked up for nothing.
bool LimitRows::are_groups_to_be_cut(const LineRun& run, std::uint64_t rows, std::uint64_t behind) {
  constexpr std::uint64_t least_share = 4;
  read_ += rows;
  left_out_ += behind;
  if (run.group_bounds && read_ >= least_rows_to_cut && left_out_ * least_share < read_) {
    next_sort_ = SIZE_MAX;
    notes_cuts_ = false;
    const std::scoped_lock lock(mutex_);
    group_bounds_.reset();
  }
  return run.count >= next_sort_;
}

void LimitRows::after_batch(LineRun& run, std::uint64_t rows, std::uint64_t behind) {
  if (groups_.is_limit ? are_groups_to_be_cut(run, rows, behind) : run.count > few_rows && run.count / 2 >= rows_)
    sort_and_cut(run);
}

bool LimitRows::make_room(LineRun& run) {
  if (!groups_.is_limit) return makes_room(run);
  groups_shrink_ = groups_shrink_ && makes_room(run);
  return groups_shrink_;
}

bool LimitRows::makes_room(LineRun& run) {
  const bool is_sorted = groups_.is_limit || run.count > rows_;
  if (is_sorted) sort_and_cut(run);
  // Rows of groups that stay are sorted each time: where they are many, runs cost less.
  const std::size_t most = run.size() / 4 * (groups_.is_limit ? 1 : 3);
  if (run.line_bytes + run.count * lines::index_bytes_per_line <= most) {
    move_to_front(run);
    return true;
  }
  run.is_ordered = is_sorted;  // it is stored as it is
  return false;
}

// A group that is in several runs is one in the end: no one knows how many there will be.
void LimitRows::count_stored(const LineRun& run) {
  if (groups_.is_on) return;
  const std::size_t step = div_up(run.count, samples_of_run);
  const std::scoped_lock lock(mutex_);
  for (std::size_t row = 0, end = 0; row < run.count; row = end) {
    end = std::min(row + step, run.count);
    counted_.add(bound_at(format_, run, end - 1), end - row);
  }
  const std::shared_ptr<const RowBound> counted = counted_.bound();
  if (counted && (!bound_ || counted->is_before(*bound_))) bound_ = counted;
}

}  // namespace ecosort::engine::rows
