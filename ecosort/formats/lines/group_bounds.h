// Knows where each group of rows is cut (`--limit K --by-group`). The rows of a group follow each other in the order, so that a
// row between two of them is one of them, and no one has to look up its group:
//
//   order   | group: 1 2 .. K ... dropped ... d | another group | ...
//                           [-----------------]                     a row that is read later and lies here is dropped, too
//
// Mostly the windows show that, before anything of the row is kept. A row behind `d` is not known to be of the group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "formats/lines/row_bound.h"
#include "formats/lines/text.h"
#include "formats/row_format.h"

namespace ecosort::lines {

// A group of which rows were dropped: behind the last one that stays, up to another one.
struct GroupCut {
  static constexpr std::size_t most_kept = 512;    // bytes of a row: groups with longer ones are not cut
  static constexpr std::size_t most_noted = 4096;  // at a time

  RowBound last_kept, last_dropped;
  std::string row;  // one of the group
  std::uint64_t dropped = 0;
};

// Immutable, and thread-safe.
class GroupBounds {
 public:
  explicit GroupBounds(const formats::RowFormat& format) : format_(&format) {}
  // Knows also these cuts, which are in order.
  [[nodiscard]] GroupBounds with(std::vector<GroupCut> cuts) const;

  // Returns whether a row that is read later, with this first window, is one of those that a group does not need.
  [[nodiscard]] bool is_behind(records::KeyWindow window, Text row) const;

 private:
  static constexpr std::size_t most_bytes = std::size_t{4} << 20U;

  void take(GroupCut cut);
  void forget_some();
  void list_windows();

  const formats::RowFormat* format_;
  std::vector<GroupCut> cuts_;               // in order
  std::vector<records::KeyWindow> windows_;  // of their last rows that stay
};

}  // namespace ecosort::lines
