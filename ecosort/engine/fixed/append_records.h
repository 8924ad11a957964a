// Puts records behind an output that is complete, in the order of their inputs: those that a broken job had in no run yet.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/bench.h"
#include "engine/fixed/read_ahead.h"
#include "engine/fixed/tally.h"
#include "engine/fixed/write_behind.h"
#include "formats/records/encoder.h"
#include "planner/files_plan.h"

namespace ecosort::engine::fixed {

// Coordinator only; must outlive its task.
class AppendRecords {
 public:
  // `output` has `before` bytes, and gets `more`. The memory of the merge is free again.
  AppendRecords(Bench& bench, std::uint32_t record_size, const planner::FilesPlan& plan, io::File& output, std::uint64_t before,
                std::uint64_t more);

  // The first records of each input, as many as it says. The inputs are read through the page cache.
  [[nodiscard]] Task<void> append(const std::vector<Input>& inputs);

  [[nodiscard]] const Tally& read() const noexcept { return read_; }
  [[nodiscard]] const Tally& written() const noexcept { return written_; }

 private:
  Task<void> append_all(const std::vector<Input>& inputs);
  Task<void> take_tail();
  Task<void> append_block(const Input& input, std::uint64_t first, std::uint64_t count);

  Bench& bench_;
  const records::Encoder encoder_;  // without a key: no record has to follow another
  io::File& output_;
  const std::uint64_t before_;
  WriteBehind writer_;
  Buffer block_;
  std::uint64_t block_records_;
  Tally read_, written_;
};

}  // namespace ecosort::engine::fixed
