// The merge of runs that never left memory: the second half of a one-pass sort.
//
// Multisequence selection on the sorted indexes finds, before anything is merged, the records of each run that belong to an
// output block. So the blocks come into being independently of each other, a thread for each: the slices of the indexes that
// belong to it are put one after the other and sorted (stable, so that equal keys stay in input order), and their records are
// gathered from the run buffers right into the output block. Each record is copied once. Blocks are written in order.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/bench.h"
#include "engine/fixed/checked_output.h"
#include "engine/fixed/run_buffer.h"
#include "engine/fixed/run_view.h"
#include "planner/plan.h"

namespace ecosort::engine::fixed {

// Coordinator only; must outlive its task, and the runs outlive it.
class MergeResident {
 public:
  // The runs in input order, each sorted through its index.
  MergeResident(Bench& bench, const records::Encoder& encoder, const planner::MergeBuffers& buffers,
                const std::vector<RunBuffer>& runs);

  // VerificationError if the output would not be in order (promise P1).
  [[nodiscard]] Task<void> merge_to_output(CheckedOutput& output);

 private:
  struct Block {
    std::uint64_t number = 0, first = 0, count = 0;  // records
    std::vector<RunRange> ranges;                    // of the runs
  };
  // Two arrays of `desk_records_` entries: at least as many as a block gets.
  struct Desk {
    sorting::Entry* entries;
    sorting::Entry* scratch;
  };

  [[nodiscard]] bool more() const noexcept { return planned_ < records_; }
  Block next_block(std::uint64_t most_records);
  Task<void> make_blocks(CheckedOutput& output, Desk desk);
  [[nodiscard]] Checked make(const Block& block, Desk desk, std::byte* out) const;
  [[nodiscard]] const sorting::Entry* merge_indexes(const Block& block, Desk desk) const;

  io::Reactor& reactor_;
  Compute& compute_;
  const records::Encoder& encoder_;
  const std::vector<RunBuffer>& runs_;
  records::RecordTable table_;
  Buffer memory_;
  std::uint64_t desk_records_;
  std::vector<Desk> desks_;  // one for each output block
  std::uint64_t records_ = 0;
  std::uint64_t planned_ = 0;        // records of blocks that are made or being made
  std::vector<std::uint64_t> cuts_;  // the same per run
  std::uint64_t next_number_ = 0, turn_ = 0;
  Signal turn_changed_;
};

}  // namespace ecosort::engine::fixed
