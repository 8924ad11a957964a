// Compression of runs: the coders that the compute threads share, which codec each run gets, and what came of it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/memory.h"
#include "codec/block_codec.h"
#include "run/codec_choice.h"
#include "run/packed_block.h"

namespace ecosort::run {

// What of the memory goes to compressed runs. None where `coders` is 0.
struct PackingPlan {
  codec::RunCompression wanted;
  unsigned coders = 0;              // that work at a time
  std::uint64_t index_bytes = 0;    // most that the places of all blocks take; a run beyond that is stored as it is
  std::uint64_t coder_bytes = 0;    // of all coders, whatever the size of the blocks
  std::uint64_t assumed_ratio = 0;  // runs are reserved space for their bytes by this many thousandths; 0: for all of their bytes
  bool reserves_nothing = false;    // whether runs will fit is not for us to know (--compress-program)

  [[nodiscard]] std::uint64_t bytes() const noexcept { return coders == 0 ? 0 : coder_bytes + index_bytes; }
  // Of runs that may take `bytes`: what is reserved, in whole pages.
  [[nodiscard]] std::uint64_t space_of(std::uint64_t bytes) const noexcept;
};

struct PackingReport {
  std::uint64_t plain_bytes = 0, stored_bytes = 0;  // of all blocks of runs
  std::uint64_t packed_blocks = 0, blocks = 0;
  double pack_s = 0, unpack_s = 0;  // of threads
  codec::BlockTerms last;           // what the last run got
  std::string why;                  // of the last run
};

// Thread-safe. Nothing waits here but for another thread that computes.
class RunPacker {
 public:
  // Takes plan.coder_bytes of the memory.
  RunPacker(const PackingPlan& plan, std::size_t block_bytes, MemoryBudget& memory);

  [[nodiscard]] const PackingPlan& plan() const noexcept { return plan_; }

  // How fast everything goes, before the next run.
  void set_pace(const Pace& pace);
  // What a run gets that begins with this block.
  [[nodiscard]] codec::BlockTerms choose(const std::byte* first_block, BlockContents contents);

  // PackedBlockCoder::pack() and unpack() by a coder that is free.
  [[nodiscard]] std::size_t pack(const codec::BlockTerms& terms, std::byte* block, std::uint64_t seed, BlockContents contents);
  [[nodiscard]] std::optional<BlockContents> unpack(std::byte* block, std::size_t stored_bytes);

  // A write to a run begins, or has ended. Coordinator only, as the seconds per byte while any was under way; 0: there was none.
  void write_begins() noexcept;
  void write_ends(std::size_t bytes) noexcept;
  [[nodiscard]] double write_s_per_byte() const noexcept;

  // A block of a run was stored.
  void account(std::size_t plain_bytes, std::size_t stored_bytes, bool is_packed);
  [[nodiscard]] PackingReport report() const;

 private:
  class Loan;

  PackingPlan plan_;
  Buffer memory_;
  std::vector<PackedBlockCoder> coders_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable given_back_;
  std::vector<PackedBlockCoder*> idle_;
  Pace pace_;
  PackingReport report_;

  using Clock = std::chrono::steady_clock;
  unsigned writes_ = 0;  // under way
  std::uint64_t written_bytes_ = 0;
  Clock::time_point writing_since_;
  Clock::duration writing_{0};
};

}  // namespace ecosort::run
