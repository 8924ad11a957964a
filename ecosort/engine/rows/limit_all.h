// Keeps only rows that may be among the first ones of the order (`--limit`).
//
// The last one of so many rows is the bound. Where they do not fit the memory, runs are stored, which leave samples for a bound
// by counting.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/counted_bound.h"
#include "engine/rows/limit_rows.h"
#include "formats/lines/row_bound.h"

namespace ecosort::engine::rows {

class LimitAll final : public LimitRows {
 public:
  // Keeps of groups, which are decided at once, the first row of each of the first `rows` ones.
  LimitAll(const formats::RowFormat& format, std::uint64_t rows, const GroupPolicy& groups, unsigned threads);

  void set_bounds(lines::LineRun& run) const override;
  [[nodiscard]] bool ends_merges() const noexcept override { return true; }
  void after_batch(lines::LineRun& run, std::uint64_t rows, std::uint64_t behind) override;
  [[nodiscard]] bool make_room(lines::LineRun& run) override;
  [[nodiscard]] hash::MultisetHash drop(lines::LineRun& run) override;
  void count_stored(const lines::LineRun& run) override;

 private:
  void sort_and_cut(lines::LineRun& run);
  void cut(lines::LineRun& run);
  void tighten(std::shared_ptr<const lines::RowBound> bound);
  [[nodiscard]] std::shared_ptr<const lines::RowBound> bound() const;
  [[nodiscard]] std::size_t rows_to_keep(const lines::LineRun& run) const;

  const std::uint64_t rows_;
  std::shared_ptr<const lines::RowBound> bound_;  // guarded, as the next one
  CountedBound<lines::RowBound> counted_;
};

}  // namespace ecosort::engine::rows
