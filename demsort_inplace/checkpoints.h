// The second phase's bookkeeping: the output grows only into room that the runs have given back, checkpoint by checkpoint. (Where
// runs keep their space, there is room for all of it, and a checkpoint in each interval all the same.)
//
//   output durable up to a full unit -> both sums equal -> journal says so, durable -> runs cut off -> room reserved for more
//   (of packed runs the beginning is punched out instead)
//
//   output   | ..................... u | u | u |        a checkpoint at record K, which ends inside unit D-1:
//                              K ^     ^ D              records < K have left the runs; bytes < D are never written again
//
// The sums: of what left the runs, as it was when the run blocks' checksums were verified, and of what is in the output blocks. A
// record that changed in memory in between stops the job before a run is cut off.
//
// A resumption merges from record K on, finds the first bytes in place already and compares them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <vector>

#include "demsort_inplace/workbench.h"
#include "engine/fixed/merge_runs.h"
#include "engine/fixed/write_behind.h"
#include "run/record_runs.h"

namespace ecosort::demsort_inplace {

// Coordinator only. Everything it is given outlives it.
class Checkpoints : public engine::fixed::ReleaseHook {
 public:
  // From the last state of the journal on; the output holds just what that says.
  Checkpoints(Workbench& bench, io::File& output);

  // So many bytes of the output are allocated. What is reserved twice must be free once more on some file systems (XFS).
  void has_room(std::uint64_t bytes) noexcept { room_ = std::max(room_, bytes); }
  // Allocates the room that the output has now. Before the first batch.
  [[nodiscard]] Task<void> reserve();

  // A merge begins whose sources are these runs.
  void begin(engine::fixed::WriteBehind& writer, engine::fixed::MergeRuns& merge, std::vector<std::uint64_t> runs);
  // It has merged all. VerificationError unless what was appended is what was consumed.
  [[nodiscard]] Task<void> end();

  Task<void> before_batch(std::uint64_t bytes) override;
  void after_batch(const engine::fixed::MergedBatch& batch) override;

  // Records in the output up to the last batch, and their hash.
  [[nodiscard]] const State& position() const noexcept { return now_; }

 private:
  Task<void> checkpoint();
  Task<void> check_sums();
  [[nodiscard]] std::uint64_t end_of(std::uint64_t records) const noexcept {
    return round_up(records * layout_.record_size, layout_.unit);
  }
  Task<void> give_back(const State& before, const State& after);
  [[nodiscard]] std::uint64_t run_bytes(std::uint64_t run, std::uint64_t consumed) const noexcept;
  [[nodiscard]] std::uint64_t block_in_store(std::uint64_t run, std::uint64_t consumed) const noexcept {
    return (consumed - adopted_[run]) / layout_.run_block.records;
  }
  [[nodiscard]] std::uint64_t run_bytes(const State& state) const noexcept;

  io::Storage& storage_;
  io::Reactor& reactor_;
  Journal& journal_;
  const Layout& layout_;
  run::RecordRuns& store_;
  const std::vector<std::size_t>& numbers_;
  std::vector<std::uint64_t> adopted_;     // the first record of each run that the store took in
  std::vector<std::uint64_t> file_bytes_;  // of each then: the length
  io::File& output_;
  const std::atomic<int>& interrupted_;
  State saved_;                  // what the journal says
  State now_;                    // up to the last batch
  std::deque<State> marks_;      // ends of batches, each a unit or more after the one before; the first one may be saved
  hash::MultisetHash consumed_;  // from the runs, by the merges before this one
  hash::MultisetHash appended_;  // to the output, since the state this began from
  std::uint64_t room_;           // bytes of the output that are allocated
  engine::fixed::WriteBehind* writer_ = nullptr;
  engine::fixed::MergeRuns* merge_ = nullptr;  // between begin() and end()
  std::vector<std::uint64_t> runs_;            // of the sources of this merge
  std::vector<std::uint64_t> begin_;           // records of each that were gone when its source was made
};

}  // namespace ecosort::demsort_inplace
