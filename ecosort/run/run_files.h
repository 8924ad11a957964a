// Sorted runs on a drive.
//
//   run file | run block | run block | ...    rows pass over the borders of blocks (run_block.h)
//
// With a compress program the same blocks go through it, and its output is the file (run/run_program.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/memory.h"
#include "base/task.h"
#include "io/reactor.h"
#include "io/storage.h"
#include "run/drive_shares.h"
#include "run/run_block.h"
#include "run/run_program.h"

namespace ecosort::lines {

struct StoredRun {
  io::FilePtr file;
  std::uint64_t seed = 0;
  std::uint64_t bytes = 0;  // of lines
  std::uint64_t space = 0;  // bytes of its file; of a compressed one, when it is complete
  std::uint64_t lines = 0;
  std::size_t longest = 0;              // bytes of its longest line, with its end
  bool is_compressed = false;           // written and read in order, once
  bool is_kept = false;                 // its space stays taken to the end
  std::shared_ptr<RunProgram> program;  // while a compressed run is written or read

  [[nodiscard]] std::uint64_t blocks(std::size_t block_bytes) const noexcept {
    return div_up(bytes, block_bytes - run::trailer_bytes);
  }
};

// Makes runs and keeps account of their space. Coordinator only, except check() and seal().
class RunFiles {
 public:
  // `compress_program`: through which all runs go; empty: none.
  RunFiles(io::Storage& storage, io::Reactor& reactor, std::vector<std::string> directories, std::size_t block_bytes,
           std::string compress_program);

  // For runs that outlive the process: in files of the caller's. `job` identifies the job's blocks.
  RunFiles(io::Storage& storage, io::Reactor& reactor, std::size_t block_bytes, std::uint64_t job);

  // A new run in the directory whose turn it is by free space, with space for `bytes` of lines reserved. What a compressed one
  // will take nobody knows: nothing is reserved for it, and a drive that is full is the program's to find.
  [[nodiscard]] StoredRun create(std::uint64_t bytes);

  // The same in an empty file of the caller's; `number` is that of the run in its job.
  [[nodiscard]] StoredRun create_in(io::FilePtr file, std::uint64_t number, std::uint64_t bytes);
  // Run `number` of the job, complete in this file.
  [[nodiscard]] StoredRun adopt(io::FilePtr file, std::uint64_t number, std::uint64_t bytes);

  // All is put: `bytes` of lines, perhaps fewer than foreseen. Gives back what the run does not need, or waits for the program.
  [[nodiscard]] Task<void> complete(StoredRun& run, std::uint64_t bytes);

  static void seal(const StoredRun& run, std::uint64_t block, std::byte* data, std::size_t size, run::BlockContents contents);
  // DamagedRun for a block that is not what was written there.
  static void check(const StoredRun& run, std::uint64_t block, const std::byte* data, std::size_t size);

  // Reads a block; of a compressed run the next one, and the last one only when the program has ended well. Such a run gives
  // its space back then, all at once.
  [[nodiscard]] Task<void> read(StoredRun& run, std::uint64_t block, std::byte* data);

  // The same, and checks it on the coordinator, which has little else to do.
  [[nodiscard]] Task<run::BlockContents> read_checked(StoredRun& run, std::uint64_t block, std::byte* data);

  // Gives the space of blocks [first, last) back, where they lie in the file as they are.
  [[nodiscard]] Task<void> release(const StoredRun& run, std::uint64_t first, std::uint64_t last);
  // Its file is about to be closed.
  void forget(const StoredRun& run, std::uint64_t released_blocks);

  // After an error: asks all programs at once to end, before one after the other is waited for.
  void terminate_programs() noexcept;

  [[nodiscard]] std::uint64_t peak_bytes() const noexcept { return peak_; }

 private:
  void start(StoredRun& run, RunProgram::Direction direction);
  void take_space(StoredRun& run, std::uint64_t space);

  io::Storage& storage_;
  io::Reactor& reactor_;
  std::vector<std::string> directories_;
  std::optional<engine::DriveShares> shares_;  // from the first run on: nobody looks at the directories where none is made
  std::size_t block_bytes_;
  std::string compress_program_;
  std::vector<std::weak_ptr<RunProgram>> programs_;
  std::uint64_t job_;
  std::uint64_t created_ = 0;
  std::uint64_t allocated_ = 0, peak_ = 0;
};

}  // namespace ecosort::lines
