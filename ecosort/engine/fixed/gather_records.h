// Gathers large records from the inputs in the order of their keys: they are moved once, not twice.
//
//   input    | key ...... | key ...... | key ...... |     1. of each record the units with its key are read
//   index    | key, checksum of what was read | ...       2. sorted by key
//   output   | record | record | record |                 3. each record is read once, from where it lies, many at a time
//
// The part of a record that was read before is compared when the whole of it comes, and each place is read once: so the output
// has every record of the input, as it was when its key was read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/block_pool.h"
#include "engine/bench.h"
#include "engine/fixed/checked_output.h"
#include "engine/fixed/read_ahead.h"
#include "formats/records/encoder.h"
#include "planner/plan.h"
#include "sorting/entry.h"

namespace ecosort::engine::fixed {

// Coordinator only; must outlive its tasks.
class GatherRecords {
 public:
  GatherRecords(Bench& bench, const planner::RecordPlan& plan, const records::Encoder& encoder, std::vector<Input>& inputs);

  [[nodiscard]] Task<void> read_keys();
  [[nodiscard]] Task<void> sort_keys();
  // IoError where an input changed; VerificationError if the output would not be in order (promise P1).
  [[nodiscard]] Task<void> gather_to_output(CheckedOutput& output);

  [[nodiscard]] const Tally& tally() const noexcept { return tally_; }  // of the records as they came in

 private:
  struct Place {
    const io::File* file;
    std::uint64_t offset;  // of the record
    std::uint64_t last;    // where the records of the file end
  };
  [[nodiscard]] Place place_of(std::uint64_t record) const;
  Task<std::byte*> read(Place place, std::uint64_t begin, std::uint64_t end, std::byte* block);
  Task<void> read_next_keys();
  void keep_key(std::uint64_t number, const std::byte* record);
  Task<void> make_batches(CheckedOutput& output);
  Task<void> gather(std::uint64_t number, std::byte* target);
  [[nodiscard]] std::uint64_t checksum_of(std::uint64_t number, const std::byte* record) const;
  void take_in(std::uint64_t number, const std::byte* record);

  io::Reactor& reactor_;
  Compute& compute_;
  Progress& progress_;
  const planner::Gathering& plan_;
  const records::Encoder& encoder_;
  const records::Encoder key_encoder_;  // of keys without their records
  std::vector<Input>& inputs_;
  std::vector<std::uint64_t> first_records_;  // of the inputs
  std::uint64_t records_;
  Buffer keys_, checksums_, index_, scratch_;
  BlockPool blocks_;
  std::vector<bool> is_gathered_;
  std::uint64_t next_key_ = 0;
  std::uint64_t next_record_ = 0, next_batch_ = 0, turn_ = 0;
  Signal turn_changed_;
  Tally tally_;
};

}  // namespace ecosort::engine::fixed
