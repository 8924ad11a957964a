// The way of run blocks into a run: sealed as they are, or packed and put together, and written.
//
//   write block   | run block | run block | run block |     as they are: each in its place
//                 | packed | packed | as it is |            packed: one behind the other
//
// The place of a packed block depends on all before it, so the write blocks of a run are written in their order; they are packed
// side by side. The first run block decides how.
#pragma once

#include <cstdint>
#include <vector>

#include "base/cancel_scope.h"
#include "engine/fixed/record_tools.h"

namespace ecosort::engine::fixed {

// A write block that is being filled: run blocks from `first` on, of which those in `complete` are.
struct RunBlocks {
  struct Complete {
    std::size_t plain_bytes, stored_bytes;  // of its records; on the drive
  };
  std::uint64_t first = 0, count = 0;
  std::byte* data = nullptr;
  std::vector<Complete> complete = {};
  std::size_t bytes = 0;  // of all these on the drive
};

// Coordinator only, but for place_of_next() and complete_next(). One for each run; outlives its tasks.
class RunWriter {
 public:
  RunWriter(const RecordTools& tools, std::size_t run);

  // Blocks are sealed or packed by complete_next() only, and may then lie where other blocks were.
  [[nodiscard]] bool packs() const noexcept { return packer_ != nullptr; }

  // Before run blocks from `first` on are completed.
  [[nodiscard]] Task<void> may_complete(std::uint64_t first);

  // Returns where the next run block goes.
  [[nodiscard]] std::byte* place_of_next(const RunBlocks& blocks) const noexcept;
  // Its records are at `records`, which is there or behind it. Any thread.
  void complete_next(RunBlocks& blocks, std::byte* records, std::uint32_t count);

  // All of them are complete.
  [[nodiscard]] Task<void> write(const RunBlocks& blocks);

  // All run blocks were written: gives back what the run does not need.
  void finish();

 private:
  Task<void> write_in_turn(const RunBlocks& blocks);
  std::size_t pack_next(const RunBlocks& blocks, std::byte* records, std::uint32_t count);

  run::RecordRuns& store_;
  std::uint32_t record_size_;
  std::size_t number_;
  const run::StoredRun& run_;
  run::RunPacker* packer_;  // null: blocks are stored as they are
  run::PackTerms terms_;
  std::uint64_t next_ = 0;  // run block to be written
  Signal turn_;
};

}  // namespace ecosort::engine::fixed
