// Keeps only rows that a limit may want, while runs are formed: of all rows (limit_all.h), or of each group (limit_groups.h).
//
//   buffer   | rows that may be wanted so far | a batch, of which few are in front of bounds | free | index |
//
// Once a buffer holds many more rows than are wanted, it is sorted and the others are dropped. Their first one is behind a bound:
// rows that are read later and are behind it, too, are dropped as they come. A full buffer whose rows take less room than it has
// moves them to its front and is filled further, so that nothing is stored where the wanted rows fit.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "engine/group_policy.h"
#include "formats/lines/group_bounds.h"
#include "formats/lines/line_run.h"
#include "formats/row_format.h"
#include "hash/multiset_hash.h"

namespace ecosort::engine::rows {

// Compute threads call this for the buffers of one sort, several at the same time for different ones.
class LimitRows {
 public:
  LimitRows(const formats::RowFormat& format, const GroupPolicy& groups, unsigned threads)
      : format_(format), groups_(groups), threads_(threads) {}
  LimitRows(const LimitRows&) = delete;
  LimitRows& operator=(const LimitRows&) = delete;
  virtual ~LimitRows() = default;

  // Gives the buffer the bounds of rows that are read next, if there are some.
  virtual void set_bounds(lines::LineRun& run) const = 0;
  // Returns whether a merge ends before its runs do.
  [[nodiscard]] virtual bool ends_merges() const noexcept { return false; }

  // The buffer got a batch, of whose `rows` so many were behind bounds: drops what is not wanted, when there is enough of it.
  virtual void after_batch(lines::LineRun& run, std::uint64_t rows, std::uint64_t behind) = 0;
  // The buffer is full: drops what it can, and returns whether so much is free now that it is to be filled further, behind
  // run.kept_bytes.
  [[nodiscard]] virtual bool make_room(lines::LineRun& run) = 0;
  // The run is sorted: drops what is not wanted, and returns the hash of rows that went because of others of their groups.
  [[nodiscard]] virtual hash::MultisetHash drop(lines::LineRun& run) = 0;
  // After drop(): the run is about to be stored.
  virtual void count_stored(const lines::LineRun& /*run*/) {}

  // All rows that were dropped: those behind a bound as they came, which the reader has counted, are not among them.
  [[nodiscard]] hash::MultisetHash beyond() const;
  // Rows that were dropped before their run was sorted, because of others of their groups.
  [[nodiscard]] hash::MultisetHash repeated() const;

 protected:
  // Sorts the rows of a buffer, which are as they came, and drops those that their groups do not need.
  void sort(lines::LineRun& run, std::vector<lines::GroupCut>* cuts);
  // Puts sorted rows as if they had come in their order.
  static void turn_round(lines::LineRun& run);
  void add_beyond(const hash::MultisetHash& rows);
  // Moves the rows to the front of the buffer, unless they and their index take more than so many quarters of it.
  [[nodiscard]] static bool leaves_room(lines::LineRun& run, std::size_t most_quarters);

  const formats::RowFormat& format_;
  const GroupPolicy groups_;
  mutable std::mutex mutex_;  // guards what may change in a call for another buffer

 private:
  const unsigned threads_;
  hash::MultisetHash beyond_, repeated_;  // guarded
};

}  // namespace ecosort::engine::rows
