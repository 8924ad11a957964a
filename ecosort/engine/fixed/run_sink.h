// The end of a merge into a run: batches fill run blocks, which are sealed or packed and written behind, write block by write
// block.
#pragma once

#include <cstdint>

#include "base/block_pool.h"
#include "engine/fixed/merge_batch.h"
#include "engine/fixed/run_writer.h"
#include "planner/plan.h"

namespace ecosort::engine::fixed {

// Coordinator only; must outlive its tasks. One for each run.
class RunSink {
 public:
  // Its write blocks are the output blocks of `buffers`; `run` is a new run of the store.
  RunSink(const RecordTools& tools, const planner::MergeBuffers& buffers, std::size_t run);

  // Records of a write block, and how many of them the one that is being filled still takes.
  [[nodiscard]] std::uint64_t block_records() const noexcept { return block_records_; }
  [[nodiscard]] std::uint64_t room() const noexcept { return block_records_ - target_.filled; }

  // Returns where the next batch goes, of at most room() records. Waits for a free write block.
  [[nodiscard]] Task<BatchTarget> take();
  // So many records were put there. The last ones of the run: what was begun is written, too.
  void put(std::uint64_t count, bool is_last);

  // Waits until nothing is under way; throws nothing: the cancel scope knows the error.
  [[nodiscard]] Task<void> settle() { return writes_.settle(); }
  // All is written: gives back what the run does not need.
  void finish() { writer_.finish(); }

 private:
  Task<void> write(BatchTarget target);

  RecordTools tools_;
  std::size_t run_;
  std::uint64_t block_records_;
  BlockPool blocks_;
  RunWriter writer_;
  BatchTarget target_;
  TaskGroup writes_;
};

}  // namespace ecosort::engine::fixed
