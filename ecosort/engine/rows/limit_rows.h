// Keeps only rows that may be among the first ones of the order (`--limit`), or of their groups (`--by-group`), while runs are
// formed.
//
//   buffer   | rows that are first so far | a batch, of which few come before the bound | free | index |
//
// Once a buffer holds more rows than are wanted, it is sorted and its last rows are dropped: the last row that stays is the
// bound, and rows that are read later and do not come before it are dropped as they come. A full buffer whose rows take less room
// than it has moves them to its front and is filled further, so that nothing is stored where the wanted rows fit.
//
// Where they do not fit, runs are stored, which leave samples for a bound by counting. Groups have a bound each, which a buffer
// that is sorted leaves. Where these drop little, as those of long keys do, no row is looked up any more, and no buffer is sorted
// before it is full.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "engine/counted_bound.h"
#include "engine/group_policy.h"
#include "formats/lines/group_bounds.h"
#include "formats/lines/line_run.h"
#include "formats/lines/row_bound.h"
#include "formats/row_format.h"
#include "hash/multiset_hash.h"

namespace ecosort::engine::rows {

// Compute threads call this for the buffers of one sort, several at the same time for different ones.
class LimitRows {
 public:
  // Keeps of groups, whose rows are decided at once, the first row of each of the first `rows` ones; or with a limit of groups
  // their first rows, and `rows` is UINT64_MAX.
  LimitRows(const formats::RowFormat& format, std::uint64_t rows, const GroupPolicy& groups, unsigned threads);

  // Gives the buffer the bounds of rows that are read next, if there are some.
  void set_bounds(lines::LineRun& run) const;
  // Returns whether a merge ends before its runs do.
  [[nodiscard]] bool ends_merges() const noexcept { return rows_ != UINT64_MAX; }

  // The buffer got a batch, of whose `rows` so many were behind bounds: drops what cannot be among the first rows, when there is
  // enough of it.
  void after_batch(lines::LineRun& run, std::uint64_t rows, std::uint64_t behind);
  // The buffer is full: drops what it can, and returns whether so much is free now that it is to be filled further, behind
  // run.kept_bytes.
  [[nodiscard]] bool make_room(lines::LineRun& run);
  // The run is sorted, and rows of groups are dropped: keeps what may be among the first rows.
  void cut(lines::LineRun& run);
  // After cut(): the run is about to be stored.
  void count_stored(const lines::LineRun& run);

  // All rows that were dropped: those behind the bound as they came, which the reader has counted, are not among them.
  [[nodiscard]] hash::MultisetHash beyond() const;
  // Rows that were dropped because they are equal to others.
  [[nodiscard]] hash::MultisetHash repeated() const;

 private:
  void sort_and_cut(lines::LineRun& run);
  void tighten(std::shared_ptr<const lines::RowBound> bound);
  [[nodiscard]] std::shared_ptr<const lines::RowBound> bound() const;
  [[nodiscard]] bool makes_room(lines::LineRun& run);
  [[nodiscard]] bool are_groups_to_be_cut(const lines::LineRun& run, std::uint64_t rows, std::uint64_t behind);
  [[nodiscard]] std::size_t rows_to_keep(const lines::LineRun& run) const;

  const formats::RowFormat& format_;
  const std::uint64_t rows_;
  const GroupPolicy groups_;
  const unsigned threads_;
  std::size_t next_sort_ = 0;              // rows of the buffer that is read, with which groups are cut
  bool groups_shrink_ = true;              // when they are cut
  bool notes_cuts_ = true;                 // as bounds of groups
  std::uint64_t read_ = 0, left_out_ = 0;  // since then: rows, and those behind bounds of groups

  mutable std::mutex mutex_;  // guards the rest
  std::shared_ptr<const lines::RowBound> bound_;
  std::shared_ptr<const lines::GroupBounds> group_bounds_;
  hash::MultisetHash beyond_, repeated_;
  CountedBound<lines::RowBound> counted_;
};

}  // namespace ecosort::engine::rows
