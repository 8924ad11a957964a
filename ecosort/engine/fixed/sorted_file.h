// A sorted file while it is merged: two blocks of it are in memory or on their way, and its order is checked as they come.
//
//   file    | merged ...... | block b | block b+1 | not read yet
//   memory                    slot b mod 2, slot (b+1) mod 2
//
// The run of a job is such a file, too: a block is so many of its run blocks, each of which is checked. Where they are packed,
// what was read lies at the end of their room.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/bench.h"
#include "engine/fixed/output_check.h"
#include "engine/fixed/read_ahead.h"
#include "engine/fixed/run_view.h"
#include "planner/files_plan.h"
#include "run/run_packer.h"

namespace ecosort::engine::fixed {

// A merge of sorted files works with these. All of it outlives the merge.
struct FilesTools {
  Bench& bench;
  const records::Encoder& encoder;
  const planner::FilesPlan& plan;
  bool checksum = false;  // valsort's, of the records that are read
  bool hashes = true;     // them; otherwise what they must be is known
};

// Coordinator only. The tasks of request() must be over before it dies.
class SortedFile {
 public:
  // `coders`: of a run that is packed. `memory`: two blocks. `arrived` is notified when a block is there.
  SortedFile(const FilesTools& tools, Input& input, run::RunPacker* coders, std::byte* memory, Signal& arrived);

  // Begins to read what there is room for, as tasks of `group`.
  void request(TaskGroup& group);

  // Records that are in memory and not merged yet, [begin, end), and where they are.
  [[nodiscard]] RunRange resident() const noexcept { return {consumed_, std::min(accepted_ * block_records_, records_)}; }
  [[nodiscard]] RunView view() const;
  [[nodiscard]] const std::byte* record(std::uint64_t number) const noexcept;

  [[nodiscard]] bool is_all_here() const noexcept { return accepted_ * block_records_ >= records_; }
  [[nodiscard]] bool is_loading() const noexcept { return loading_ > 0; }
  // Records up to this one are merged: their blocks may be filled again.
  void consume(std::uint64_t end) noexcept { consumed_ = end; }

  // Returns the tally of the records that arrived.
  [[nodiscard]] const Tally& tally() const noexcept { return tally_; }

 private:
  struct Slot {
    std::byte* data = nullptr;
    bool arrived = false;
    Checked checked;
  };
  Task<void> load(std::uint64_t block);
  Task<void> read(std::uint64_t block, std::byte* data);
  [[nodiscard]] Checked check(std::uint64_t block) const;
  [[nodiscard]] std::uint64_t bytes_of(std::uint64_t block) const noexcept;
  void accept();
  [[nodiscard]] std::uint64_t records_of(std::uint64_t block) const noexcept;
  [[nodiscard]] std::uint64_t run_blocks_of(std::uint64_t block) const noexcept;
  [[nodiscard]] std::byte* begin_of(std::uint64_t block) const noexcept;
  [[noreturn]] void refuse(std::uint64_t block, const std::byte* before) const;

  io::Reactor& reactor_;
  Compute& compute_;
  const records::Encoder& encoder_;
  Input& input_;
  run::RunPacker* coders_;
  bool checksum_, hashes_;
  std::uint64_t run_block_records_, run_blocks_;  // of a run block; of a block
  std::int64_t run_block_stride_ = 0;             // from one to the next one of the run
  std::uint64_t block_records_, records_;
  std::uint32_t record_size_;
  std::array<Slot, 2> slots_;
  Signal& arrived_;
  std::uint64_t requested_ = 0;  // blocks
  std::uint64_t accepted_ = 0;   // blocks that are there, with all before them
  std::uint64_t consumed_ = 0;   // records
  unsigned loading_ = 0;
  std::vector<std::byte> last_;  // record of the last block accepted
  Tally tally_;
};

}  // namespace ecosort::engine::fixed
