// The blocks of a merge's cursors: memory for them, reading ahead, and giving back what was consumed.
//
//   slot | room for a line's beginning | block |       two per cursor: one is merged while the next block is fetched into the
//   other;
//                               [ line..|..e.. ]       the line at the border is put together in front of the block behind
//
// The room is as long as the longest line of the run, which run formation recorded: with long lines fewer runs are merged at a
// time, and the memory stays what it is. Where even two runs do not fit that way, each has one slot. A plain file has a short
// room until it shows a longer line; then it gets one slot with more, up to a quarter of the memory, from memory kept for that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/memory.h"
#include "engine/rows/line_blocks.h"
#include "engine/rows/merge_tree.h"
#include "engine/rows/row_tools.h"
#include "engine/rows/space_ahead.h"

namespace ecosort::engine::rows {

// Says how many of `inputs`, from `first` on, can be merged at once, and with how many slots each (0: not even two).
struct MergeFit {
  std::size_t inputs = 0;
  unsigned slots = 2;
};
[[nodiscard]] MergeFit fit_merge(const planner::LinePlan& plan, const std::vector<MergeInput>& inputs, std::size_t first);

// Returns what a merge of all of these inputs takes, each with so many slots.
[[nodiscard]] std::uint64_t merge_memory_bytes(const planner::LinePlan& plan, const std::vector<MergeInput>& inputs,
                                               unsigned slots);

// One of several parts of the same stored runs that are merged at the same time.
struct MergePart {
  unsigned parts = 1;                         // that share the write blocks, and the space that may wait to be given back
  std::vector<ByteRange> ranges;              // its lines in each run; none: all of them
  std::optional<Text> not_before, not_after;  // its lines lie between these in the order
};

// The line that went out last, or a copy of it where its block is filled anew.
struct LastLine {
  bool is_there = false;
  Text text;
  records::KeyWindow window{};
  std::size_t cursor = 0;  // whose block it lies in; no cursor: it stays where it is
  Buffer copy;
};
inline constexpr std::size_t no_cursor = SIZE_MAX;

// In how many bytes rows agree with the ones before them, if they agree in their keys; so many others do not.
struct CommonOfSome {
  std::vector<std::size_t> bytes;
  std::size_t others = 0;
};

// Coordinator only, except advance(). Must outlive its tasks: join() on every path.
class MergeCursors {
 public:
  // `last`: a line that is kept when its block goes; null where no one needs it.
  MergeCursors(const RowTools& tools, std::vector<MergeInput>& inputs, unsigned slots, const MergePart& part, LastLine* last);

  [[nodiscard]] const std::vector<std::unique_ptr<MergeCursor>>& all() const noexcept { return cursors_; }

  void request_first();
  // Waits for the cursor's next block, in front of which lies what is there of a line.
  [[nodiscard]] Task<void> next_block(MergeCursor& cursor);
  // Takes the next block in the merging thread, and returns whether it was here already. Then refill() is due.
  [[nodiscard]] bool advance(MergeCursor& cursor);
  // Blocks that were merged make room for those that follow.
  void refill();
  // Behind a row that was refused: see DecodedInput. The cursor has no rows any more.
  [[nodiscard]] Task<void> check_rest(MergeCursor& cursor);
  // Returns the cursor whose block holds no records as its format has them, behind a RefusedRow; null: there is none.
  [[nodiscard]] MergeCursor* refused() const noexcept { return refused_; }
  // The line that went out last lies where a block is about to go, or a row, and stays.
  void keep_last_line(const MergeCursor& cursor);
  // The block that the cursor is in is not what was written. Any thread.
  [[noreturn]] void damaged(const MergeCursor& cursor) const { damaged(cursor, cursor.consumed_end); }
  // Returns where in the lines of a stored run the one begins that the cursor is at.
  [[nodiscard]] std::uint64_t position(const MergeCursor& cursor) const;
  // In how many bytes some rows agree with the ones before them: those that each cursor begins with.
  [[nodiscard]] CommonOfSome common_of_some(const RowCodes& codes) const;
  [[nodiscard]] Task<void> join() { return background_.join(); }

 private:
  void limit(MergeCursor& cursor, const ByteRange& range) const;
  void request(MergeCursor& cursor);
  Task<std::size_t> read_plain(const MergeInput& input, std::uint64_t block, std::byte* data);
  Task<void> load(MergeCursor& cursor, unsigned slot, std::uint64_t block);
  Task<void> load_stored(MergeCursor& cursor, MergeCursor::Slot& slot, std::uint64_t block);
  void take_truncated(const MergeCursor& cursor, MergeCursor::Slot& slot, const run::TruncatedBlock& block, std::uint64_t number);
  void enter(MergeCursor& cursor, unsigned slot, std::size_t tail);
  void mark_records(MergeCursor& cursor, const MergeCursor::Slot& block);
  [[noreturn]] void damaged(const MergeCursor& cursor, std::uint64_t block) const;
  [[nodiscard]] Buffer allocate(const MergeCursor& cursor, std::size_t bytes);
  Task<void> make_room(MergeCursor& cursor, std::size_t tail);
  [[nodiscard]] std::uint64_t memory_for(const MergeCursor& cursor, std::size_t tail) const;
  void release_consumed(MergeCursor& cursor);

  io::Reactor& reactor_;
  Compute& compute_;
  run::RowRuns& files_;
  MemoryBudget& budget_;
  const planner::LinePlan& plan_;
  const formats::RowFormat& format_;
  std::uint64_t release_blocks_;  // given back at a time
  LastLine* last_;
  MergeCursor* refused_ = nullptr;
  std::vector<std::unique_ptr<MergeCursor>> cursors_;
  Buffer memory_;
  TaskGroup background_;
  Signal loaded_;
  std::vector<std::size_t> emptied_;  // cursors that moved on to another block: the one before may be fetched into
};

}  // namespace ecosort::engine::rows
