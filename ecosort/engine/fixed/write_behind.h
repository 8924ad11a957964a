// Write behind: the sequential front of the output, in aligned requests that follow the merge, several for each block.
//
//   output block  | carry | records of the batch ............ | rest |    carry: what the block before had beyond its last
//                 ^ aligned in memory and in the file                     full alignment unit; rest: becomes the next carry
//
// Space is reserved ahead in steps, so that no one else can take it and temporary + output space stays near the input's size
// while consumed runs are given back (promise P10).
#pragma once

#include <cstdint>
#include <vector>

#include "base/block_pool.h"
#include "engine/bench.h"
#include "planner/plan.h"
#include "run/run_store.h"

namespace ecosort::engine::fixed {

// Says what holds for an output besides its file.
struct OutputTerms {
  std::uint64_t total_bytes = 0;
  std::uint64_t reserve_bytes = 0;   // space is reserved in steps of this
  std::uint64_t reserved_bytes = 0;  // are allocated already; all of it: the caller sees to the space
  std::uint64_t request_bytes = 0;   // a write has at most so many; 0: a whole block
  std::uint64_t least_unit = 1;      // writes begin and end at multiples of it in the file; at most its unit of writes or a page
};

// Coordinator only; must outlive its tasks.
class WriteBehind {
 public:
  // `runs`: of whose space the output takes what they give back; null: none.
  WriteBehind(Bench& bench, io::File& file, const planner::MergeBuffers& buffers, const OutputTerms& terms, run::RunStore* runs);

  // Before the first batch: `bytes` of the output are there already, and so is the rest of the unit they end in, which is read
  // back and compared with what comes, but never written again.
  [[nodiscard]] Task<void> resume(std::uint64_t bytes);
  // Resumes where `tail` holds what there is of the unit that `bytes` end in: it is written as a whole.
  void resume_with_tail(std::uint64_t bytes, const std::vector<std::byte>& tail);

  // Most bytes that fit one batch.
  [[nodiscard]] std::uint64_t capacity_bytes() const noexcept { return block_bytes_ - unit_; }

  // Returns where a batch goes whose bytes are expected to begin at `offset` of the file; waits for a free block. Several batches
  // may be taken at a time, but are put in their order. A batch that turns out to begin elsewhere (--unique) is moved within its
  // block.
  [[nodiscard]] Task<std::byte*> take(std::uint64_t offset);
  [[nodiscard]] Task<void> put(std::byte* data, std::uint64_t bytes);  // returns once the write is under way

  // Waits for all writes; writes the last partial unit and sets the exact size.
  [[nodiscard]] Task<void> finish();

  // Waits until everything up to submitted_bytes() has been written.
  [[nodiscard]] Task<void> written() { return writes_.join(); }
  [[nodiscard]] std::uint64_t submitted_bytes() const noexcept { return offset_; }

  // After an error: waits until no write uses the blocks or the file. Throws nothing.
  [[nodiscard]] Task<void> settle() { return writes_.settle(); }

  [[nodiscard]] std::uint64_t written_bytes() const noexcept { return offset_ + carry_bytes_; }

 private:
  void write_block(std::byte* block, std::uint64_t offset, std::uint64_t skip, std::uint64_t size);
  Task<void> write_piece(std::byte* block, std::uint64_t offset, std::byte* data, std::uint64_t size);
  [[nodiscard]] unsigned& pieces_of(const std::byte* block) noexcept;
  Task<void> reserve_until(std::uint64_t end);
  void check_durable_unit(const std::byte* block, std::uint64_t size) const;
  Task<bool> fits(std::uint64_t from, std::uint64_t size);  // false: not now

  io::Storage& storage_;
  io::Reactor& reactor_;
  run::RunStore* runs_;
  io::File& file_;
  std::uint64_t block_bytes_, unit_, request_bytes_, reserve_bytes_, total_bytes_;
  Progress& progress_;
  BlockPool blocks_;
  std::vector<unsigned> pieces_;  // of each block: so many are being written
  TaskGroup writes_;
  std::vector<std::byte> carry_;  // at most one unit
  std::uint64_t carry_bytes_ = 0;
  std::uint64_t offset_ = 0;  // file offset of the carry
  std::uint64_t reserved_;
  std::vector<std::byte> durable_unit_;  // as resume() found it
  std::uint64_t durable_until_ = 0;      // file offset that writes must not begin before
  bool can_reserve_ = true;
};

}  // namespace ecosort::engine::fixed
