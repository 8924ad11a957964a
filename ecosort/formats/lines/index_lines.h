// Makes and sorts the index of a run. Pure computation, inside the thread pool.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "formats/lines/duplicate_filter.h"
#include "formats/lines/group_bounds.h"
#include "formats/lines/line_run.h"
#include "formats/row_format.h"
#include "hash/multiset_hash.h"

namespace ecosort::lines {

struct Indexed {
  std::size_t lines = 0;                        // taken
  std::size_t entered = 0;                      // of them; the others were seen before
  std::size_t end = 0;                          // behind the last line taken
  std::size_t longest = 0;                      // bytes, with the end of the line
  std::uint64_t dropped_bytes = 0;              // of the lines that were not entered
  hash::MultisetHash hash, dropped, beyond;     // of the lines taken, of those seen before, and of those behind the run's bound
  std::uint64_t blank_lines = 0, comments = 0;  // of the lines taken; they are dropped
  // Bad rows among the lines taken, which are not in `dropped`. At most_bad_rows of them there may be more lines that could be
  // taken.
  std::vector<formats::BadRow> bad_rows;
  std::uint64_t ends_inside = 0;  // terminators inside of quotes in them
  std::uint64_t header_rows = 0;  // that equal the header
  std::size_t header_row = 0;     // the first of them, from the beginning of the run
  std::vector<formats::KeyCounts> key_counts;
  std::optional<formats::RowFault> fault;  // of the row at `end`, from the beginning of the run
};

// Enters the lines of [begin, end) into the index, at most `most` of them and only complete ones, in their order. With `seen`,
// one per thread or none, lines that they have seen in this run are left out.
[[nodiscard]] Indexed index_lines(LineRun& run, const formats::RowFormat& order, std::size_t begin, std::size_t end,
                                  std::size_t most, unsigned threads, std::vector<DuplicateFilter>& seen);

// Orders the index; lines that are equal in all levels keep their order.
void sort_index(LineRun& run, const formats::RowFormat& order, unsigned threads);

// After sort_index: the first lines of each group of equal ones stay, or the last ones.
struct KeptOfEqual {
  std::uint64_t most = 0;  // 0: all of them
  bool are_last = false;

  // Returns whether lines that were seen before can be left out as they come.
  [[nodiscard]] bool is_first_alone() const noexcept { return most == 1 && !are_last; }
};
// Adds the others to `dropped`, and says where groups were cut of which the first lines stay, unless that is null.
void drop_equal(LineRun& run, const formats::RowFormat& order, KeptOfEqual kept, hash::MultisetHash& dropped,
                std::vector<GroupCut>* cuts = nullptr);

// Returns how the lines of two entries with windows of level 0 compare, in all levels.
[[nodiscard]] int compare_entries(const LineRun& run, const formats::RowFormat& order, const sorting::Entry& a,
                                  const sorting::Entry& b);

// Returns whether lines with these equal windows are known to be equal without a look at them; otherwise `level` is the first one
// to compare.
[[nodiscard]] bool tie_is_decided(const formats::RowFormat& order, records::KeyWindow window, unsigned& level) noexcept;

}  // namespace ecosort::lines
