// Compression of runs: the coders that the compute threads share, which codec each run gets, and what came of it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/memory.h"
#include "planner/packing_plan.h"
#include "run/codec_choice.h"
#include "run/packed_block.h"

namespace ecosort::run {

struct PackingReport {
  std::uint64_t plain_bytes = 0, stored_bytes = 0;  // of all blocks of runs
  std::uint64_t packed_blocks = 0, blocks = 0;
  double try_s = 0, pack_s = 0, unpack_s = 0;  // of threads: to choose codecs, and to use them
  PackTerms last;                              // what the last run got
  std::uint64_t tried_blocks = 0;              // that codecs were tried on
  std::string why;                             // of the last run
};

// Thread-safe. Nothing waits here but for another thread that computes.
class RunPacker {
 public:
  // Takes plan.coder_bytes of the memory.
  RunPacker(const planner::PackingPlan& plan, const BlockShape& shape, MemoryBudget& memory);

  [[nodiscard]] const planner::PackingPlan& plan() const noexcept { return plan_; }

  // Sets how fast everything goes, before the next run.
  void set_pace(const Pace& pace);
  // Returns how a run is packed that begins with this block. Codecs are tried on it, or on those of later runs while the blocks
  // stay alike: at most on every eighth. With `auto` none is tried where the pace lets none pay.
  [[nodiscard]] PackTerms choose(const std::byte* first_block, BlockContents contents);

  // PackedBlockCoder::pack() and unpack() by a coder that is free.
  [[nodiscard]] std::size_t pack(const PackTerms& terms, const std::byte* block, BlockContents contents, std::uint64_t seed,
                                 std::byte* to);
  [[nodiscard]] std::optional<BlockContents> unpack(const std::byte* packed, std::size_t stored_bytes, std::byte* block,
                                                    std::size_t block_bytes);
  [[nodiscard]] std::optional<TruncatedBlock> unpack_truncated(const std::byte* packed, std::size_t stored_bytes,
                                                               std::byte* block);

  // A block of a run was stored.
  void account(std::size_t plain_bytes, std::size_t stored_bytes, bool is_packed);
  [[nodiscard]] PackingReport report() const;

 private:
  class Loan;

  // Returns what `work` makes of a coder that is free; its time goes to `spent_s`.
  template <class Work>
  [[nodiscard]] auto with_coder(double PackingReport::* spent_s, const Work& work);
  [[nodiscard]] bool has_choice() const;
  [[nodiscard]] std::vector<Trial> try_all(const std::byte* first_block, BlockContents contents);
  [[nodiscard]] std::vector<Trial> trials_of(const std::byte* first_block, BlockContents contents);

  planner::PackingPlan plan_;
  BlockShape shape_;
  Buffer memory_;
  std::vector<PackedBlockCoder> coders_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable given_back_;
  std::vector<PackedBlockCoder*> idle_;
  Pace pace_;
  std::vector<Trial> tried_;
  unsigned tried_for_ = 0, untried_ = 0;  // runs that these trials serve, and how many of them are to come
  PackingReport report_;
};

}  // namespace ecosort::run
