// Prefetched reading of runs for a merge (EcoSort section 3: "a prefetch sequence ensures that the right blocks are prefetched").
//
// The sequence is the order in which the merge will need the blocks: by the first key of each block, then by run. It is not
// stored; a heap over the runs yields it from their forecast tables. Blocks of resident runs are "read" by gathering, so that
// the merge knows one kind of run only. Where only a window of a table is in memory, it is moved on ahead of the blocks.
//
// Buffers: any free block may be taken in sequence, except that one stays reserved for every run that still has blocks to
// fetch and holds none, so that the merge always progresses even if the sequence was wrong (long keys with equal forecasts).
#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <utility>
#include <vector>

#include "engine/fixed/record_tools.h"
#include "engine/fixed/records_in_input.h"
#include "engine/fixed/run_buffer.h"
#include "engine/fixed/run_view.h"
#include "hash/multiset_hash.h"

namespace ecosort::engine::fixed {

// One run of a merge: what was fetched of it and how far it is consumed. Records count from the start of the run.
struct MergedRun {
  bool is_resident = false;
  std::size_t stored = 0;                    // number in the run store
  const RecordsInInput* in_input = nullptr;  // lies there instead, with the forecast of that number
  const RunBuffer* resident = nullptr;
  std::uint64_t records = 0;
  std::uint64_t run_blocks = 0, blocks = 0;
  std::uint32_t run_block_records = 0;

  bool reads_keys = false;        // of its forecast
  std::uint64_t next_block = 0;   // to be fetched
  std::uint64_t first_block = 0;  // of `held`
  struct Held {
    std::byte* data;
    bool ready;
    std::vector<hash::MultisetHash> sums;  // of the records of each run block, if they are kept
  };
  std::deque<Held> held;        // fetched or being fetched, in order
  std::uint64_t ready_end = 0;  // records [consumed, ready_end) are in memory
  std::uint64_t consumed = 0;   // at the beginning: records of the first block that the merge is to leave out; run blocks that
                                // hold no others are not read, and need not be there

  [[nodiscard]] bool fetched_all() const noexcept { return next_block == blocks; }
  [[nodiscard]] bool starving() const noexcept { return held.empty() && !fetched_all(); }
};

// Coordinator only; must outlive its loads: await settle().
class Prefetch {
 public:
  // Takes over `memory` and cuts it into blocks of `block_bytes`, at least two per source.
  Prefetch(const RecordTools& tools, std::uint64_t block_bytes, Buffer memory, std::vector<MergedRun>& sources);

  // The records of each run block are summed when the run block is verified (24 bytes for each that is in memory), so that a
  // change in memory that comes later makes what is merged differ from what was verified. Before the first advance(); stored runs
  // only.
  void keep_sums() noexcept { keeps_sums_ = true; }
  // Sums all run blocks that were consumed to their end.
  [[nodiscard]] const hash::MultisetHash& consumed_run_blocks() const noexcept { return consumed_run_blocks_; }
  // A run block that is consumed in part: its sum, and the records that are not consumed.
  struct OpenRunBlock {
    hash::MultisetHash sum;
    const std::byte* left;
    std::uint64_t left_records;
  };
  [[nodiscard]] std::vector<OpenRunBlock> open_run_blocks() const;

  // Starts fetching blocks in sequence, as many as there are buffers for.
  void advance();

  // The merge consumed `source` up to record `consumed`; frees the blocks before it.
  void consume(std::uint32_t source, std::uint64_t consumed);

  // Waits for the loads under way; throws nothing.
  [[nodiscard]] Task<void> settle() { return loads_.settle(); }

  // Fetches the next block of a starving source out of turn.
  void demand(std::uint32_t source);

  [[nodiscard]] Signal& arrived() noexcept { return arrived_; }
  [[nodiscard]] std::uint64_t ready_records() const noexcept { return ready_records_; }  // in memory and not consumed
  [[nodiscard]] unsigned in_flight() const noexcept { return in_flight_; }
  [[nodiscard]] bool fetched_all() const noexcept { return sequence_.empty() && in_flight_ == 0; }
  [[nodiscard]] std::uint64_t demand_reads() const noexcept { return demand_reads_; }
  [[nodiscard]] std::uint64_t records_per_block() const noexcept { return run_blocks_per_block_ * run_block_.records; }

  // Returns the key of the first record that `source` has not in memory; only while it has such a record.
  [[nodiscard]] run::ForecastKey next_key(const MergedRun& source) const;

  // The blocks of `source` that are in memory, for the kernels.
  [[nodiscard]] RunView view(const MergedRun& source) const;

 private:
  using Turn = std::pair<run::ForecastKey, std::uint32_t>;  // and source

  [[nodiscard]] Turn turn_of(std::uint32_t source) const;
  [[nodiscard]] run::ForecastKey key_of_block(const MergedRun& source, std::uint64_t block) const;
  [[nodiscard]] bool knows(const MergedRun& source, std::uint64_t block) const;
  void line_up(std::uint32_t source);
  Task<void> load_keys(std::uint32_t source);
  [[nodiscard]] bool may_take(const MergedRun& source) const;
  void start(std::uint32_t source);
  [[nodiscard]] std::uint64_t records_per_block(const MergedRun& source) const noexcept {
    return run_blocks_per_block_ * source.run_block_records;
  }
  Task<void> load(std::uint32_t source, std::uint64_t block, std::byte* data);
  Task<void> load_stored(MergedRun& source, std::uint64_t block, std::byte* data);
  [[nodiscard]] std::uint64_t lead_of(const MergedRun& source, std::uint64_t block) const noexcept;
  Task<void> load_from_input(const MergedRun& source, std::uint64_t block, std::byte* data);
  void check_pieces(const MergedRun& source, std::uint64_t first, std::uint64_t count, const std::byte* records) const;
  [[nodiscard]] std::vector<hash::MultisetHash> sum_run_blocks(const MergedRun& source, std::uint64_t first,
                                                               std::uint64_t run_blocks, std::byte* data) const;
  void gather(const MergedRun& source, std::uint64_t first_run_block, std::uint64_t run_blocks, std::byte* data) const;
  void check_forecast(const MergedRun& source, std::uint64_t run_block, const run::ForecastKey& predicted,
                      const std::byte* record) const;
  void mark_ready(MergedRun& source, std::uint64_t block);
  void add_consumed_run_blocks(const MergedRun& source, std::uint64_t consumed);

  io::Reactor& reactor_;
  Compute& compute_;
  run::RecordRuns& store_;
  const records::Encoder& encoder_;
  planner::RunBlock run_block_;
  std::uint64_t run_blocks_per_block_;
  Buffer memory_;
  std::vector<MergedRun>& sources_;
  std::vector<std::byte*> free_;
  std::size_t starving_ = 0;
  std::set<Turn> sequence_;  // the next block of every source that has one
  TaskGroup loads_;
  Signal arrived_;
  unsigned in_flight_ = 0;  // also keys
  std::uint64_t ready_records_ = 0;
  std::uint64_t demand_reads_ = 0;
  bool keeps_sums_ = false;
  hash::MultisetHash consumed_run_blocks_;
};

// Returns what was consumed of these run blocks: their sums less what is left of them.
[[nodiscard]] hash::MultisetHash sum_of_consumed(const std::vector<Prefetch::OpenRunBlock>& open, std::uint32_t record_size);

}  // namespace ecosort::engine::fixed
