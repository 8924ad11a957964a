// Read ahead: fills run buffers from the inputs, and extracts and hashes records as soon as they are complete.
//
//   input file    ....|aaaaaaaa|bbbbbbbb|cccc      requests are aligned blocks; a run may begin inside one, whose first
//   run buffer      [a|aaaaaaaa|bbbbbbbb|cc..]     bytes are then read once more (never with the plan's own run sizes)
//   records         |--r--|--r--|--r--|--r--       extraction follows the completed prefix, block by block
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/block_pool.h"
#include "engine/bench.h"
#include "engine/fixed/run_buffer.h"
#include "engine/fixed/tally.h"
#include "formats/records/encoder.h"
#include "planner/plan.h"
#include "run/description.h"

namespace ecosort::engine::fixed {

struct Input {
  io::FilePtr file;
  std::uint64_t records = 0;                           // unknown (0) for a stream
  io::FileState opened;                                // as it was when the sort began
  std::uint64_t skipped = 0;                           // bytes of the file in front of the first of these records
  std::optional<run::Description> run = std::nullopt;  // only of a merge: the file is this run of a job
  // Looks at the first bytes of a stream that arrive, before anything is written; what it throws ends the sort. May be empty.
  std::function<void(std::span<const std::byte>)> look = nullptr;

  // Returns where the records begin in the file.
  [[nodiscard]] std::uint64_t begin() const noexcept { return file->facts().start_offset + skipped; }
};

// IoError if the input is not what it was when the sort began. Streams have no such state.
void check_unchanged(io::Storage& storage, const Input& input);

// Coordinator only. Must outlive the tasks it returned.
class ReadAhead {
 public:
  ReadAhead(Bench& bench, const planner::RecordPlan& plan, const records::Encoder& encoder, std::vector<Input>& inputs);

  // Reads records [first, first + count) of all inputs, in order, into `run` and fills its index (unsorted). Where there is a
  // `progress`, it learns of each block.
  [[nodiscard]] Task<void> fill(RunBuffer& run, std::uint64_t first, std::uint64_t count, Progress* progress = nullptr) {
    return read_run(run, first, count, true, progress);
  }
  // Reads, but leaves index and tally to the user of the run.
  [[nodiscard]] Task<void> read(RunBuffer& run, std::uint64_t first, std::uint64_t count) {
    return read_run(run, first, count, false, nullptr);
  }

  // The next `count` records of a stream; run.count is smaller only when the stream ended.
  [[nodiscard]] Task<void> fill_from_stream(RunBuffer& run, std::uint64_t count, Progress& progress);

  // Says where these records lie, if they follow each other in one file that can be read again.
  struct Extent {
    const io::File* file = nullptr;
    std::uint64_t begin = 0;  // of the first record
  };
  [[nodiscard]] std::optional<Extent> extent_of(std::uint64_t first, std::uint64_t count) const;

  // InputRefused, with its file and its number in it, for the first of these records of a run whose key cannot be ordered.
  // Thread-safe.
  void check_keys(const RunBuffer& run, std::uint64_t first, std::uint64_t count) const;

  [[nodiscard]] const Tally& tally() const noexcept { return tally_; }  // of everything extracted so far

  void free_buffers() { bounce_.reset(); }  // nothing can be read afterwards

  // IoError if an input is not what it was when the sort began.
  void check_unchanged(io::Storage& storage) const;

 private:
  // The progress of one fill: which prefix of the run's bytes has arrived.
  struct Arrival {
    RunBuffer& run;
    bool extracts;
    Progress* progress;                    // may be null
    std::vector<std::uint64_t> block_end;  // byte position in the run after each block
    std::vector<bool> arrived;
    std::size_t next = 0;         // first block that has not arrived
    std::uint64_t extracted = 0;  // records handed to the compute threads
  };
  struct Block {
    const io::File* file;
    std::uint64_t offset;    // in the file
    std::uint64_t size;      // of the request
    std::uint64_t at_least;  // bytes that must come
    std::uint64_t lead;      // of these, bytes in front of the range
    std::byte* target;       // where the bytes belong
  };

  Task<void> read_run(RunBuffer& run, std::uint64_t first, std::uint64_t count, bool extracts, Progress* progress);
  Task<void> read_block(Arrival& arrival, std::size_t number, Block block);
  Task<void> read_stream(TaskGroup& extractions, RunBuffer& run, std::uint64_t wanted_bytes, Progress& progress);
  Task<void> extract_arrived(Arrival& arrival);
  Task<void> extract(RunBuffer& run, std::uint64_t first, std::uint64_t count);
  std::vector<Block> blocks_of(RunBuffer& run, std::uint64_t first, std::uint64_t count) const;

  io::Reactor& reactor_;
  Compute& compute_;
  const planner::RecordPlan& plan_;
  const records::Encoder& encoder_;
  std::vector<Input>& inputs_;
  std::uint64_t record_size_;
  std::optional<BlockPool> bounce_;
  std::uint64_t streamed_ = 0;  // records of a stream that have come
  Tally tally_;
};

}  // namespace ecosort::engine::fixed
