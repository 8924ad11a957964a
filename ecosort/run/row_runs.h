// Runs of rows of any length: the run store with rows that pass over the borders of blocks (run_block.h), each run whole in one
// directory.
//
// With a compress program the same blocks go through it, and its output is the file (run/run_program.h). With a packer blocks may
// be compressed, each by itself (run/packed_runs.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/task.h"
#include "formats/key_cuts.h"
#include "run/packed_runs.h"
#include "run/run_program.h"

namespace ecosort::run {

// Says where rows lie that came in order: a range of an input, which is a run that no one wrote.
//
//   file   |      |  rows ......................... |
//   blocks    | 0         | 1         | 2         |     begin at whole pages of the file, so that they can be read past its cache
//                 ^ begin                         ^ what the last row lacks of its end follows in memory
struct RowsInInput {
  const io::File* file = nullptr;  // stays open as long as the run is needed
  std::uint64_t begin = 0;         // of the first row in the file
  std::uint64_t bytes = 0;         // in the file
  std::string missing_end = {};    // of the last row, which the file ends with
  char terminator = '\n';
  bool has_quotes = false;  // a terminator may lie inside of a row

  [[nodiscard]] std::uint64_t lead() const noexcept { return begin % page_bytes; }  // bytes of block 0 before the first row
};

// A run as those who write and merge it know it. Its bytes are counted from the beginning of block 0.
struct RowRun {
  std::size_t stored = 0;   // its number in the store
  std::uint64_t bytes = 0;  // of lines
  std::uint64_t lines = 0;
  std::size_t longest = 0;                        // bytes of its longest line, with its end
  bool is_compressed = false;                     // written and read in order, once
  std::shared_ptr<RunProgram> program = nullptr;  // while a compressed run is written or read
  std::optional<RowsInInput> in_input = {};       // nothing: it is stored
  formats::KeyCuts cuts = {};                     // of a run of a shuffle

  [[nodiscard]] std::uint64_t begin() const noexcept { return in_input ? in_input->lead() : 0; }
  [[nodiscard]] std::uint64_t end() const noexcept { return begin() + bytes; }
  // Bytes of lines in a full block.
  [[nodiscard]] std::uint64_t payload(std::size_t block_bytes) const noexcept {
    return in_input ? block_bytes : block_bytes - trailer_bytes;
  }
  [[nodiscard]] std::uint64_t blocks(std::size_t block_bytes) const noexcept { return div_up(end(), payload(block_bytes)); }
};

// Coordinator only, but for what run_store.h permits other threads.
class RowRuns final : public PackedRuns {
 public:
  // `compress_program`: through which all runs go; empty: none. `packer`: of runs that go through no program; null: none. It
  // outlives this.
  RowRuns(io::Storage& storage, io::Reactor& reactor, std::vector<std::string> directories, std::size_t block_bytes,
          std::string compress_program, RunPacker* packer = nullptr);
  // Runs of a job, in files of the caller's, which keep their space to the end. Their direction is forward. `packer` as above.
  RowRuns(io::Storage& storage, io::Reactor& reactor, std::size_t block_bytes, const KeptRuns& kept, RunPacker* packer = nullptr);

  // A new run in the directory whose turn it is by free space, with space for `bytes` of lines reserved. What a compressed one
  // will take no one knows: nothing is reserved for it, and a drive that is full is the program's to find. Each has a file of its
  // own: where no more may be open, a run is stored as it is.
  [[nodiscard]] RowRun create(std::uint64_t bytes);
  // Creates it in an empty file of the caller's; `number` is that of the run in its job. `other_places`: as pack_where_possible()
  // has them.
  [[nodiscard]] RowRun create_in(io::FilePtr file, std::uint64_t number, std::uint64_t bytes, std::uint64_t other_places = 0);
  // Creates it in this file, its blocks as they are.
  [[nodiscard]] RowRun create_plain_in(io::FilePtr file, std::uint64_t number, std::uint64_t bytes);
  // Run `number` of the job, complete in this file; its blocks are packed in so many bytes, or lie as they are (0). DamagedRun.
  [[nodiscard]] Task<void> adopt(RowRun& run, io::FilePtr file, std::uint64_t number, std::uint64_t packed_bytes);

  // All is put: `bytes` of lines, perhaps fewer than planned. Gives back what the run does not need, or waits for the program.
  [[nodiscard]] Task<void> complete(RowRun& run, std::uint64_t bytes);

  // Writes a block that was sealed; of a compressed run the next one; of a packed run one that was appended.
  [[nodiscard]] Task<void> write_block(const RowRun& run, std::uint64_t block, std::byte* data);
  // Reads a block, and checks it on the coordinator, which has little else to do. Of a compressed run the next one, and the last
  // one only when the program has ended well. Such a run gives its space back then, all at once. unpack() returns what a packed
  // block holds.
  [[nodiscard]] Task<BlockContents> read_checked(RowRun& run, std::uint64_t block, std::byte* data);

  // Reads from a run that lies in an input. Where the file was changed meanwhile, the block holds something else: who merges it
  // checks order and hash. IoError where the file became shorter.
  [[nodiscard]] Task<BlockContents> read_in_input(const RowRun& run, std::uint64_t block, std::byte* data);

  // Gives the space of blocks [first, until) back, where they lie in the file as they are and the run is not kept.
  [[nodiscard]] Task<void> give_back(const RowRun& run, std::uint64_t first, std::uint64_t until);

  // After an error: asks all programs at once to end, before one after the other is waited for.
  void terminate_programs() noexcept;

 private:
  void start(RowRun& run, RunProgram::Direction direction);
  Task<void> read_compressed(RowRun& run, std::uint64_t block, std::byte* data);

  std::string compress_program_;
  bool keeps_runs_;
  std::vector<std::weak_ptr<RunProgram>> programs_;
};

}  // namespace ecosort::run
