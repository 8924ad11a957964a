// Runs whose blocks may be compressed, each by itself (packed_block.h): what rows and records have in common.
//
//   blocks are put in their order     append: where each ends is kept in memory, 4 bytes for each, as long as there is room
//   a run is complete                 what it was reserved beyond what it takes is given back
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "run/run_packer.h"
#include "run/run_store.h"

namespace ecosort::run {

// The rows of a block, which may be truncated.
struct RowsOfBlock {
  BlockContents contents;
  std::optional<TruncatedBlock> truncated;
};

// Coordinator only, but for unpack(), unpack_rows() and what run_store.h permits other threads.
class PackedRuns : public RunStore {
 public:
  // Returns what packs the blocks of a run; null: they are stored as they are.
  [[nodiscard]] RunPacker* packer_of(std::size_t number) const { return run(number).is_packed ? packer_ : nullptr; }

  // The next block of a packed run takes so many bytes of whole pages, fewer than the block where it was packed, with this codec.
  void append_packed(std::size_t number, std::size_t plain_bytes, std::size_t stored_bytes, codec::BlockCodec codec);

  // Returns whether the block is on the drive as RunPacker::pack() made it.
  [[nodiscard]] bool is_packed(const StoredRun& run, std::uint64_t block) const noexcept {
    return run.is_packed && stored_bytes(run, block) < block_bytes();
  }

  // The records of a packed block that was checked go to `to`, which may be where it is. By any thread while the run is open.
  // DamagedRun.
  [[nodiscard]] BlockContents unpack(const StoredRun& run, std::uint64_t block, const std::byte* packed, std::byte* to) const;
  // Unpacks where rows are truncated as far as that, and leaves them so; else all of the block.
  [[nodiscard]] RowsOfBlock unpack_rows(const StoredRun& run, std::uint64_t block, const std::byte* packed, std::byte* to) const;

  // Writes blocks that were appended. Where less space was reserved than they may take, and the rest is not there, IoError says
  // so.
  [[nodiscard]] Task<void> write_appended(std::size_t number, std::uint64_t first_block, std::byte* data, std::size_t size);

  // The description of a complete run, and where its blocks are packed their table. Not durable by itself. IoError as above.
  [[nodiscard]] Task<void> write_description(std::size_t number, Description description);

  // All blocks were appended and written, perhaps fewer than planned.
  void complete_run(std::size_t number, std::uint64_t blocks) { shorten(number, blocks); }

  // Serves runs of a job. One that was adopted and has nothing in it yet is packed, where there is a packer, and room for the
  // places of its blocks besides `other_places` that are not in memory now but will be together with these.
  void pack_where_possible(std::size_t number, std::uint64_t other_places = 0);
  // One that was adopted from its block `first_block` on is packed, in so many bytes: reads where its blocks are. DamagedRun,
  // NotEnoughMemory.
  [[nodiscard]] Task<void> find_packed(std::size_t number, std::uint64_t first_block, std::uint64_t stored_bytes);

  // Returns the memory of the places of packed blocks.
  [[nodiscard]] std::uint64_t peak_index_bytes() const noexcept { return peak_places_ * planner::place_bytes; }

 protected:
  // `packer`: null: none. It outlives this.
  PackedRuns(io::Storage& storage, io::Reactor& reactor, std::uint64_t block_bytes, Striping striping, RunPacker* packer)
      : RunStore(storage, reactor, block_bytes, std::move(striping)), packer_(packer) {}
  PackedRuns(io::Storage& storage, io::Reactor& reactor, std::uint64_t block_bytes, const KeptRuns& kept, RunPacker* packer)
      : RunStore(storage, reactor, block_bytes, kept), packer_(packer) {}
  ~PackedRuns() = default;
  PackedRuns(const PackedRuns&) = delete;
  PackedRuns& operator=(const PackedRuns&) = delete;

  // A new run that is packed, where there is a packer and room for the places of its blocks.
  [[nodiscard]] std::size_t create_perhaps_packed(std::uint64_t blocks);
  void closed(std::size_t number) override;
  // Reserves what was promised to a run of a job, in its file. IoError says where less was promised than it may take.
  void reserve_promised(std::size_t number);

 private:
  // Returns whether less space is reserved for packed runs than they may take.
  [[nodiscard]] bool assumes_ratio() const noexcept { return packer_ != nullptr && packer_->plan().assumed_ratio > 0; }
  [[nodiscard]] bool has_room_for_places(std::uint64_t blocks) const noexcept;
  void check_room_for_places(std::uint64_t blocks) const;
  void count_places(std::size_t number) noexcept;
  [[nodiscard]] std::size_t reserve_packed(std::uint64_t blocks);
  [[noreturn]] void throw_again(const IoError& error) const;  // that is being handled
  Task<void> write_beyond_promise(std::size_t number, std::uint64_t first_block, std::byte* data, std::size_t size);

  RunPacker* packer_ = nullptr;
  std::uint64_t places_ = 0, peak_places_ = 0;  // of blocks of packed runs, kept in memory
};

}  // namespace ecosort::run
