// Orders rows whose key is the row itself. Pure computation, inside the thread pool.
//
// A group of rows that agree in their windows gets windows from where they may differ, is sorted by these, and so on: mostly
// each row is looked at once for a window, and no byte that the group shares is looked at again. The groups that wait are a list:
// how deep they nest depends on the rows.
#pragma once

#include <cstddef>
#include <vector>

#include "formats/lines/line_run.h"
#include "formats/lines/row_bytes.h"
#include "sorting/bucket_sort.h"

namespace ecosort::lines {

class RowOrder {
 public:
  // Entries that are sorted by windows from `depth` on, or whose rows agree in so many bytes, and have them.
  struct Range {
    std::size_t begin, end, depth;

    [[nodiscard]] std::size_t size() const noexcept { return end - begin; }
  };

  RowOrder(const LineRun& run, bool descends, sorting::BucketWorkspace& workspace);

  // Rows that are equal keep their order. The windows of the entries are others afterwards.
  void order_group(const Range& group);
  void order_sorted(const Range& range);
  // Gives a group windows, which are to be sorted, from where its rows may differ. That is its depth afterwards.
  void make_windows(Range& group, unsigned threads);

  // Returns where the rows of a group with these equal windows, which are from `depth` on, agree up to; an empty group if they
  // are equal.
  [[nodiscard]] Range behind_windows(const Range& group) const noexcept;

 private:
  void settle(const Range& group);
  void order_waiting();
  [[nodiscard]] Range take_group();
  [[gnu::always_inline]] void fetch_ties(const Range& range, std::size_t begin, std::size_t end) const noexcept;
  [[nodiscard]] std::size_t enter_windows(const Range& part, const char* first, std::size_t common);
  [[nodiscard]] std::size_t enter_parts(const Range& group, std::size_t common, unsigned threads);
  [[nodiscard]] std::size_t common_of_some(const Range& group) const noexcept;
  void insertion_sort(const Range& group) noexcept;
  [[nodiscard]] const char* place(std::size_t i, std::size_t depth) const noexcept { return text_ + entries_[i].index + depth; }

  const char* const text_;
  sorting::Entry* const entries_;
  sorting::Entry* const scratch_;
  const RowBytes bytes_;
  sorting::BucketWorkspace& workspace_;
  std::vector<Range> sorted_;  // in which groups are left
};

}  // namespace ecosort::lines
