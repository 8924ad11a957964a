// Reads the written output back from the device and checks it (`--verify=reread`).
#pragma once

#include <cstdint>
#include <vector>

#include "base/memory.h"
#include "io/reactor.h"
#include "pipeline/compute.h"
#include "pipeline/progress.h"
#include "pipeline/tally.h"
#include "records/encoder.h"

namespace ecosort::pipeline {

// Coordinator only; must outlive its task.
class Reread {
 public:
  // `file` holds `records` records from its start; it was synced. Uses two blocks of about `block_bytes`.
  Reread(io::Reactor& reactor, Compute& compute, const records::Encoder& encoder, const io::File& file, std::uint64_t records,
         std::uint64_t block_bytes, MemoryBudget& memory, Progress& progress);

  [[nodiscard]] Task<void> run();

  [[nodiscard]] const Tally& tally() const noexcept { return tally_; }
  [[nodiscard]] bool in_order() const noexcept { return in_order_; }

 private:
  struct Block {
    std::byte* data = nullptr;
    std::byte* records = nullptr;  // the first one
    std::uint64_t count = 0;
  };
  Task<void> read(Block& block, std::uint64_t first);
  Task<void> check(const Block& block);

  io::Reactor& reactor_;
  Compute& compute_;
  const records::Encoder& encoder_;
  const io::File& file_;
  std::uint64_t records_, block_records_, block_size_;
  Buffer memory_;
  Progress& progress_;
  std::vector<std::byte> last_;  // the last record checked
  Tally tally_;
  bool in_order_ = true;
};

}  // namespace ecosort::pipeline
