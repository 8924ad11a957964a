// Keeps only the first rows of each group (`--limit K --by-group`).
//
// Each group that a sorted buffer cuts has a bound (formats/lines/group_bounds.h). Where bounds drop little, as those of long
// keys do, no row is looked up any more, and no buffer is sorted before it is full; and where runs shrink little, they are stored
// whole, and the merge alone looks for groups.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "engine/rows/limit_rows.h"

namespace ecosort::engine::rows {

class LimitGroups final : public LimitRows {
 public:
  using LimitRows::LimitRows;

  void set_bounds(lines::LineRun& run) const override;
  void after_batch(lines::LineRun& run, std::uint64_t rows, std::uint64_t behind) override;
  [[nodiscard]] bool make_room(lines::LineRun& run) override;
  [[nodiscard]] hash::MultisetHash drop(lines::LineRun& run) override;

 private:
  static constexpr std::size_t least_rows_to_cut = 1U << 14U;  // of a buffer

  void sort_and_cut(lines::LineRun& run);
  void set_group_bounds(std::shared_ptr<const lines::GroupBounds> bounds);

  std::size_t next_sort_ = least_rows_to_cut;         // rows of the buffer that is read, with which it is cut
  bool leaves_room_ = true;                           // when it is full
  bool notes_cuts_ = true;                            // as bounds
  std::uint64_t read_ = 0, left_out_ = 0;             // since then: rows, and those behind bounds
  std::atomic<bool> shrinks_runs_ = true;             // so that it pays to look for groups in them
  std::shared_ptr<const lines::GroupBounds> bounds_;  // guarded
};

}  // namespace ecosort::engine::rows
