// Blocks on their way to a drive: run files, and the output.
//
//   run file | block | block | ...    block: bytes of lines | zeros in the last one | XXH3-64, 8 bytes
//                                     seed: (random job number, run, position of the block)
//
// Lines pass over the borders of blocks. A block is the unit of reading, of checking and of giving space back.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/memory.h"
#include "base/task.h"
#include "io/reactor.h"
#include "io/storage.h"
#include "lines/line_plan.h"
#include "pipeline/progress.h"

namespace ecosort::lines {

inline constexpr std::size_t block_checksum_bytes = 8;

// A sorted run on a drive.
struct StoredRun {
  io::FilePtr file;
  std::uint64_t seed = 0;
  std::uint64_t bytes = 0;  // of lines
  std::uint64_t space = 0;  // bytes of its file
  std::uint64_t lines = 0;
  std::size_t longest = 0;  // bytes of its longest line, with its end

  [[nodiscard]] std::uint64_t blocks(std::size_t block_bytes) const noexcept {
    return div_up(bytes, block_bytes - block_checksum_bytes);
  }
};

// Makes runs and keeps account of their space. Coordinator only, except check() and seal().
class RunFiles {
 public:
  RunFiles(io::Storage& storage, io::Reactor& reactor, std::vector<std::string> directories, std::size_t block_bytes);

  // A new run in the next of the directories, with space for `bytes` of lines reserved.
  [[nodiscard]] StoredRun create(std::uint64_t bytes);

  // The run is written: `bytes` of lines, perhaps fewer than foreseen. Gives back what it does not need.
  void complete(StoredRun& run, std::uint64_t bytes);

  static void seal(const StoredRun& run, std::uint64_t block, std::byte* data, std::size_t size);
  // IoError for a block that is not what was written there.
  static void check(const StoredRun& run, std::uint64_t block, const std::byte* data, std::size_t size);

  // Gives the space of blocks [first, last) back.
  [[nodiscard]] Task<void> release(const StoredRun& run, std::uint64_t first, std::uint64_t last);
  // Its file is about to be closed.
  void forget(const StoredRun& run, std::uint64_t released_blocks);

  [[nodiscard]] std::uint64_t peak_bytes() const noexcept { return peak_; }

 private:
  io::Storage& storage_;
  io::Reactor& reactor_;
  std::vector<std::string> directories_;
  std::size_t block_bytes_;
  std::uint64_t job_;
  std::uint64_t created_ = 0;
  std::uint64_t allocated_ = 0, peak_ = 0;
};

// Blocks that are filled, written behind, and filled again.
class BlockPool {
 public:
  BlockPool(io::Reactor& reactor, MemoryBudget& memory, const LinePlan& plan);
  [[nodiscard]] Task<std::byte*> take();
  [[nodiscard]] bool has_idle() const noexcept { return free_.free() > 0; }  // take() will not wait
  void give(std::byte* block);

 private:
  Buffer memory_;
  Slots free_;
  std::vector<std::byte*> idle_;
};

// Where merged or sorted lines go as one sequence of bytes. Coordinator only; settle() before it dies.
class LineSink {
 public:
  LineSink(io::Reactor& reactor, BlockPool& pool, std::size_t block_bytes, pipeline::Progress& progress);
  LineSink(const LineSink&) = delete;
  LineSink& operator=(const LineSink&) = delete;
  virtual ~LineSink() = default;

  [[nodiscard]] Task<std::byte*> take() { return pool_.take(); }
  [[nodiscard]] bool has_idle_block() const noexcept { return pool_.has_idle(); }
  void give_back(std::byte* block) { pool_.give(block); }           // one that has nothing to be put
  [[nodiscard]] virtual std::size_t capacity() const noexcept = 0;  // bytes of lines in a block
  // Completes a block that is full, or the last one, while it is in the cache of the thread that filled it; `before` others are
  // to be put first. Any thread, while nothing is put.
  virtual void complete(std::byte* block, std::size_t bytes, std::uint64_t before) const = 0;
  // Hands over a block that is complete.
  virtual void put(std::byte* block, std::size_t bytes) = 0;
  [[nodiscard]] Task<void> settle() { return writes_.join(); }  // waits for all writes
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 protected:
  Task<void> write(const io::File& file, std::uint64_t offset, std::byte* block, std::size_t size);

  io::Reactor& reactor_;
  BlockPool& pool_;
  std::size_t block_bytes_;
  pipeline::Progress& progress_;
  TaskGroup writes_;
  std::uint64_t bytes_ = 0;
};

class RunSink : public LineSink {
 public:
  RunSink(io::Reactor& reactor, BlockPool& pool, std::size_t block_bytes, pipeline::Progress& progress, StoredRun& run)
      : LineSink(reactor, pool, block_bytes, progress), run_(run) {}
  [[nodiscard]] std::size_t capacity() const noexcept override { return block_bytes_ - block_checksum_bytes; }
  void complete(std::byte* block, std::size_t bytes, std::uint64_t before) const override;
  void put(std::byte* block, std::size_t bytes) override;

 private:
  StoredRun& run_;
  std::uint64_t next_block_ = 0;
};

class OutputSink : public LineSink {
 public:
  OutputSink(io::Reactor& reactor, BlockPool& pool, std::size_t block_bytes, pipeline::Progress& progress, io::File& file)
      : LineSink(reactor, pool, block_bytes, progress), file_(file) {}
  [[nodiscard]] std::size_t capacity() const noexcept override { return block_bytes_; }
  void complete(std::byte* block, std::size_t bytes, std::uint64_t before) const override;
  void put(std::byte* block, std::size_t bytes) override;
  // After settle(): the file may be longer than what was put, by less than a page.
  [[nodiscard]] bool is_padded() const noexcept { return padded_; }

 private:
  [[nodiscard]] std::size_t written_size(std::size_t bytes) const noexcept;

  io::File& file_;
  bool padded_ = false;
};

}  // namespace ecosort::lines
