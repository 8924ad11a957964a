// The end of a group of equal rows: whether its row goes out, with the number of its rows in front of it (GroupPolicy), and its
// way into the blocks of the output.
//
//   block | .... count | row | end | .....     what does not fit the block goes on in the next one
//
// The row is hashed where it lies in the block. Where the count takes the place of the row's first bytes (a member of a JSON
// object), these are written over only then.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/group_policy.h"
#include "formats/lines/late_hash.h"
#include "formats/row_format.h"

namespace ecosort::engine::rows {

// For one thread at a time.
class GroupEnd {
 public:
  GroupEnd(const formats::RowFormat& format, const GroupPolicy& policy)
      : format_(format), policy_(policy), terminator_(format.terminator()) {}

  void begin() noexcept { rows_ = 1; }
  void add_row() noexcept { ++rows_; }
  // The group ends, and `row` is the one of it that may go out. Returns whether it does: it stays where it is until put() has
  // returned true.
  [[nodiscard]] bool end(Text row);

  // Puts the row into the block, as much of it as there is room for, and adds it to `out` when all of it was put: then it returns
  // true, as it does where there is none.
  [[nodiscard]] bool put(char* block, std::size_t capacity, std::size_t& filled, lines::LateHash& out);
  [[nodiscard]] std::size_t bytes_left() const noexcept;

  // Returns how many rows the groups have whose rows went out.
  [[nodiscard]] std::uint64_t rows_of_groups() const noexcept { return rows_of_groups_; }

 private:
  [[nodiscard]] bool put_whole(char* to, std::size_t room, lines::LateHash& out) const;

  const formats::RowFormat& format_;
  GroupPolicy policy_;
  char terminator_;
  std::uint64_t rows_ = 0, rows_of_groups_ = 0;
  formats::CountText count_;
  Text row_;
  std::array<Text, 3> left_;  // to be put: of the count, of the row, of its end
};

}  // namespace ecosort::engine::rows
