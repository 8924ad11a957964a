// Reads the written output back from the device and checks it: when it is complete (`--verify=reread`), or what a crash left of
// it.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "engine/bench.h"
#include "engine/fixed/output_check.h"
#include "formats/records/encoder.h"

namespace ecosort::engine::fixed {

// Records [begin, end) of a file that holds records from byte `head_bytes` on.
struct RecordRange {
  std::uint64_t begin = 0, end = 0;
  std::uint64_t head_bytes = 0;
};

// Coordinator only; must outlive its task.
class Reread {
 public:
  // `file` holds these records, and was synced. Uses blocks of about `block_bytes`: eight, or as many as
  // there is memory for, but at least two.
  Reread(Bench& bench, const records::Encoder& encoder, const io::File& file, RecordRange range, std::uint64_t block_bytes);

  // Sets where a signal number may be found: run() then throws Interrupted. Outlives the task.
  void stop_for(const std::atomic<int>& interrupted) noexcept { interrupted_ = &interrupted; }

  [[nodiscard]] Task<void> run();

  [[nodiscard]] const Tally& tally() const noexcept { return tally_; }
  [[nodiscard]] bool in_order() const noexcept { return in_order_; }

 private:
  struct Block {
    std::byte* data = nullptr;
    std::byte* records = nullptr;  // the first one
    std::uint64_t count = 0;
    bool is_checked = false;  // by itself
    Checked result{};
  };
  Task<void> check_all(TaskGroup& work);
  void read_next(TaskGroup& work, Block& block);
  Task<void> read_and_check(Block& block, std::uint64_t first);
  void append(const Block& block);

  io::Reactor& reactor_;
  Compute& compute_;
  const records::Encoder& encoder_;
  const io::File& file_;
  const RecordRange range_;
  std::uint64_t block_records_, block_size_;
  Buffer memory_;
  std::vector<Block> blocks_;
  std::uint64_t next_;  // record to be read
  Signal checked_;
  Progress& progress_;
  const std::atomic<int>* interrupted_ = nullptr;
  std::vector<std::byte> last_;  // the last record checked
  Tally tally_;
  bool in_order_ = true;
};

}  // namespace ecosort::engine::fixed
