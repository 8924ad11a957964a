// Blocks on their way to a drive: into run files, and into the output.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/task.h"
#include "engine/rows/row_tools.h"
#include "engine/rows/space_ahead.h"

namespace ecosort::engine::rows {

// Merged or sorted lines go there as one sequence of bytes. Coordinator only; settle() before it dies.
class LineSink {
 public:
  explicit LineSink(const RowTools& tools);
  LineSink(const LineSink&) = delete;
  LineSink& operator=(const LineSink&) = delete;
  virtual ~LineSink() = default;

  [[nodiscard]] Task<std::byte*> take() { return pool_.take(); }
  [[nodiscard]] bool has_idle_block() const noexcept { return pool_.has_idle(); }
  void give_back(std::byte* block) { pool_.give(block); }           // one that has nothing to be put
  [[nodiscard]] virtual std::size_t capacity() const noexcept = 0;  // bytes of lines in a block
  // Completes a block that is full, or the last one, while it is in the cache of the thread that filled it; `before` others are
  // to be put first. Any thread, while nothing is put.
  virtual void complete(std::byte* block, run::BlockContents contents, std::uint64_t before) = 0;
  // Completing a block is so much work that several threads should do it for several blocks.
  [[nodiscard]] virtual bool completes_apart() const noexcept { return false; }
  // Hands over a block that is complete.
  virtual void put(std::byte* block, std::size_t bytes) = 0;
  [[nodiscard]] virtual Task<void> settle() { return writes_.settle(); }  // waits for all writes; throws nothing
  // After settle(): the bytes that end no whole unit of the file, which is to be written once more. They are to be put again,
  // ahead of what follows.
  [[nodiscard]] virtual Task<std::string> take_back_rest() { co_return std::string(); }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 protected:
  // Does with a block what an output file needs: records have no marks there.
  void take_marks_away(std::byte* block, std::size_t size) const noexcept {
    if (has_marks_) formats::RecordMarks::take_away(block, size);
  }
  // Begins to write bytes [from, to) of a block, there may be none, at `offset`; the block is free then.
  void write_part(const io::File& file, std::byte* block, std::size_t from, std::size_t to, std::uint64_t offset);
  // Waits for the write of a block, which is free then.
  Task<void> await(Task<void> write, std::byte* block, std::size_t size);

  io::Reactor& reactor_;
  BlockPool& pool_;
  std::size_t block_bytes_;
  Progress& progress_;
  TaskGroup writes_;
  std::uint64_t bytes_ = 0;

 private:
  bool has_marks_;
};

class RowRunSink : public LineSink {
 public:
  // `run` and its store outlive this.
  RowRunSink(const RowTools& tools, const run::RowRun& run);
  [[nodiscard]] std::size_t capacity() const noexcept override { return block_bytes_ - run::trailer_bytes; }
  // Packs the block where the run is packed. The first block decides how; it is completed alone.
  void complete(std::byte* block, run::BlockContents contents, std::uint64_t before) override;
  [[nodiscard]] bool completes_apart() const noexcept override { return !packing_.is_none(); }
  void put(std::byte* block, std::size_t bytes) override;

 private:
  static constexpr std::size_t most_complete = planner::most_blocks_at_once;  // blocks that are complete and yet to be put

  [[nodiscard]] std::size_t pack(std::byte* block, run::BlockContents contents, std::uint64_t number);

  run::RowRuns& runs_;
  const run::RowRun& run_;
  const run::StoredRun& stored_;
  run::RunPacker* packer_;  // null: blocks are stored as they are
  run::PackTerms packing_;
  std::array<std::size_t, most_complete> stored_bytes_{};  // of block i, at i modulo its size
  std::uint64_t next_block_ = 0;
};

// The unit of an output that its first part ends in, which is durable.
struct DurableUnit {
  std::uint64_t begin = 0;       // in the output
  std::vector<std::byte> bytes;  // empty: the unit is to be written
};

//   output | ..... unit | unit ........        bytes before `place` are durable, and so is the rest of the unit that it lies in:
//             begin ^  ^ place                 that unit is compared with what comes, and not written again
//   block  | lead | lines ............
//
// An output that is continued has a first block that begins at the unit: its lead, the bytes before `place`, is what the merge
// puts in front of its lines.
class OutputSink : public LineSink {
 public:
  // `is_reserved`: all of its space is allocated.
  OutputSink(const RowTools& tools, io::File& file, bool is_reserved = false)
      : LineSink(tools), bench_(tools.bench), file_(file), is_reserved_(is_reserved) {}
  // So many bytes will come, or fewer: their space is allocated ahead, unless it is there.
  void expect(std::uint64_t bytes);
  // The output continues at this unit, which the first block that is put has whole, or all there is of it. Before that.
  void continue_at(DurableUnit unit);
  [[nodiscard]] std::size_t capacity() const noexcept override { return block_bytes_; }
  void complete(std::byte* block, run::BlockContents contents, std::uint64_t before) override;
  // IoError where the unit at which the output continues is not what comes.
  void put(std::byte* block, std::size_t bytes) override;
  [[nodiscard]] Task<std::string> take_back_rest() override;
  // All of it went into the file another way.
  void account_for(std::uint64_t bytes, bool is_padded) noexcept {
    bytes_ += bytes;
    padded_ |= is_padded;
  }
  // After settle(): the file may be longer than what was put.
  [[nodiscard]] bool is_padded() const noexcept { return padded_ || is_reserved_ || (ahead_ && ahead_->has_taken()); }
  [[nodiscard]] bool is_reserved() const noexcept { return is_reserved_; }

 private:
  [[nodiscard]] std::size_t written_size(std::size_t bytes) const noexcept;

  Bench& bench_;
  io::File& file_;
  bool is_reserved_, padded_ = false;
  std::vector<std::byte> durable_;  // bytes that the next block begins with: they are compared
  std::optional<SpaceAhead> ahead_;
};

}  // namespace ecosort::engine::rows
