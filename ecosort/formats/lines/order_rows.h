// Orders rows whose key is the row itself, as the last resort of GNU sort has it. Pure computation, inside the thread pool.
//
// A group of rows that agree in their windows gets windows from where its rows differ, is sorted by these, and so on: no byte is
// looked at twice, but for the few that a second look at the same group needs. Groups that wait are a list.
#pragma once

#include <cstddef>
#include <vector>

#include "formats/lines/line_run.h"
#include "formats/lines/row_bytes.h"
#include "sort/bucket_sort.h"

namespace ecosort::lines {

class RowOrder {
 public:
  RowOrder(const LineRun& run, records::BucketWorkspace& workspace);

  // Of entries [begin, end): their rows agree in the first `depth` bytes, and have so many. The windows of the entries may be
  // any, and are others afterwards. Rows that are equal keep their order.
  void order(std::size_t begin, std::size_t end, std::size_t depth, bool descends);

 private:
  // Entries that are sorted by windows from `depth` on.
  struct Range {
    std::size_t begin, end, depth;
  };

  void order_group(Range group);
  [[nodiscard]] Range take_group();
  void make_windows(Range& group);
  [[nodiscard]] bool enter_windows(Range group, std::size_t& common);
  [[nodiscard]] std::size_t common_of_some(const Range& group) const noexcept;
  void insertion_sort(const Range& group) noexcept;
  [[nodiscard]] const char* place(std::size_t i, std::size_t depth) const noexcept { return text_ + entries_[i].index + depth; }

  const char* const text_;
  records::Entry* const entries_;
  records::Entry* const scratch_;
  const char terminator_;
  RowBytes bytes_;
  records::BucketWorkspace& workspace_;
  std::vector<Range> sorted_;  // in which groups are left
};

}  // namespace ecosort::lines
