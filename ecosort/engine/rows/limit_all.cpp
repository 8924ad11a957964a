#include "engine/rows/limit_all.h"

#include <algorithm>
#include <utility>

#include "formats/lines/index_lines.h"
#include "formats/lines/late_hash.h"

namespace ecosort::engine::rows {
namespace {

using lines::LineRun;
using lines::RowBound;
using sorting::Entry;

constexpr std::size_t few_rows = 1024;       // of a buffer are not worth a sort
constexpr std::size_t samples_of_run = 128;  // a bound by counting is off by no more than this share of each run

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

}  // namespace

LimitAll::LimitAll(const formats::RowFormat& format, std::uint64_t rows, const GroupPolicy& groups, unsigned threads)
    : LimitRows(format, groups, threads), rows_(rows), counted_(rows) {
  if (rows == 0) bound_ = std::make_shared<const RowBound>();
}

void LimitAll::set_bounds(LineRun& run) const { run.bound = bound(); }

std::shared_ptr<const RowBound> LimitAll::bound() const {
  const std::scoped_lock lock(mutex_);
  return bound_;
}

void LimitAll::tighten(std::shared_ptr<const RowBound> bound) {
  const std::scoped_lock lock(mutex_);
  if (!bound_ || bound->is_before(*bound_)) bound_ = std::move(bound);
}

// A row that equals the bound may have come before it.
std::size_t LimitAll::rows_to_keep(const LineRun& run) const {
  const std::size_t most = std::min<std::uint64_t>(run.count, rows_);
  const std::shared_ptr<const RowBound> known = bound();
  if (!known) return most;
  const Entry* const entries = run.entries();
  const Entry* const end = std::partition_point(entries, entries + most, [&](const Entry& entry) {
    return !known->is_before({entry.prefix, entry.extension}, run.line(entry));
  });
  return static_cast<std::size_t>(end - entries);
}

void LimitAll::cut(LineRun& run) {
  const std::size_t kept = rows_to_keep(run);
  if (kept > 0 && kept == rows_) tighten(bound_at(format_, run, kept - 1));
  if (kept < run.count) add_beyond(drop_from(run, format_, kept));
}

void LimitAll::sort_and_cut(LineRun& run) {
  sort(run, nullptr);
  cut(run);
  turn_round(run);
}

void LimitAll::after_batch(LineRun& run, std::uint64_t /*rows*/, std::uint64_t /*behind*/) {
  if (run.count > few_rows && run.count / 2 >= rows_) sort_and_cut(run);
}

bool LimitAll::make_room(LineRun& run) {
  const bool is_sorted = run.count > rows_;
  if (is_sorted) sort_and_cut(run);
  if (leaves_room(run, 3)) return true;
  run.is_ordered = is_sorted;  // it is stored as it is
  return false;
}

hash::MultisetHash LimitAll::drop(LineRun& run) {
  hash::MultisetHash repeated;
  lines::drop_equal(run, format_, groups_.kept_in_runs(), repeated);
  cut(run);
  return repeated;
}

// A group that is in several runs is one in the end: no one knows how many there will be.
void LimitAll::count_stored(const LineRun& run) {
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
