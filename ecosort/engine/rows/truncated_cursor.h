// Cursors in blocks whose rows are truncated (codec/truncate.h): a row at a time is put together in the room in front of the
// block, behind what it shares with the row before, which is there. So only bytes that are new are read and written, and what the
// row shares is known to the merge without a look at it.
//
//   slot | room                            | block                              |
//        | row, as far as it is whole ...  | head | ... row | row | row ...     |
//          at            line_end                           searched    end
//
// A row that passes over the border of blocks is in the room, as far as it is there, when the next block is entered.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "codec/truncate.h"
#include "engine/rows/merge_tree.h"

namespace ecosort::engine::rows {

// Says whether a cursor's row is there, and what it shares with the row before.
struct TruncatedStep {
  bool is_there = false, is_damaged = false;
  bool is_known = false;   // what it shares: not of the first one, and of one that began in a block before
  bool is_equal = false;   // to the row before
  std::size_t shared = 0;  // bytes
};

// The cursor's next row. None where the block ends; `is_damaged`: no rows are truncated so.
[[nodiscard, gnu::always_inline]] inline TruncatedStep next_truncated_row(MergeCursor& cursor) noexcept {
  constexpr std::size_t at_once = 32;  // bytes of most rows, which are copied without a branch
  if (cursor.is_pending) [[unlikely]] {
    cursor.is_pending = false;
    return {.is_there = true};
  }
  if (cursor.searched == cursor.end) [[unlikely]] {
    if (!cursor.goes_on) cursor.line_end = cursor.at;
    return {};
  }
  char* const row = const_cast<char*>(cursor.at);
  const auto before = static_cast<std::size_t>(cursor.line_end - cursor.at);
  const std::optional<codec::TruncatedRow> next = codec::truncated_row_at(cursor.searched, cursor.end);
  if (!next || next->shared > before || next->own > static_cast<std::size_t>(cursor.end - next->bytes) ||
      next->shared + next->own >= cursor.row_room) [[unlikely]]
    return {.is_damaged = true};
  char* const to = row + next->shared;
  if (next->own <= at_once && next->shared + 2 * at_once <= cursor.row_room) [[likely]]
    std::memcpy(to, next->bytes, at_once);  // of the slot, which has a page behind the block
  else
    std::memcpy(to, next->bytes, next->own);
  cursor.searched = next->bytes + next->own;
  cursor.line_end = to + next->own;
  if (cursor.searched == cursor.end && cursor.goes_on) [[unlikely]]
    return {};
  *(to + next->own) = cursor.terminator;
  prefetch(cursor.searched + 4 * at_once);
  const bool is_first = cursor.is_first;
  cursor.is_first = false;
  return {.is_there = true, .is_known = !is_first, .is_equal = next->own == 0 && next->shared == before, .shared = next->shared};
}

// Bytes of the row that is there in part, when the block ends.
[[nodiscard]] inline std::size_t tail_of(const MergeCursor& cursor) noexcept {
  return static_cast<std::size_t>((cursor.is_truncated ? cursor.line_end : cursor.end) - cursor.at);
}

// The block in `slot` is next, whose rows are truncated; `tail` bytes of a row lie in front of it. `skipped` bytes of the first
// block belong to others. False: the block is damaged.
[[nodiscard]] bool enter_truncated(MergeCursor& cursor, const MergeCursor::Slot& slot, std::size_t tail, std::size_t skipped);

// Returns where so many bytes of rows end in the truncated ones. Null: within a row, or behind all.
[[nodiscard]] const char* end_of_rows(const MergeCursor::Slot& slot, std::size_t bytes);

// Returns where the cursor's row begins in the rows of its block; one that began in the block before has a negative place.
[[nodiscard]] std::int64_t place_in_block(const MergeCursor& cursor);

// Adds what the cursor's next rows share with the ones before them, of so many at most.
void add_shared(const MergeCursor& cursor, std::size_t most_rows, std::vector<std::size_t>& common);

}  // namespace ecosort::engine::rows
