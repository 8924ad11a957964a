// The front of the output: what is merged is checked (promise P1), reduced to one record of each group where groups are, and
// written, batch after batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/compute.h"
#include "engine/fixed/group_records.h"
#include "engine/fixed/output_check.h"
#include "engine/fixed/write_behind.h"
#include "formats/records/encoder.h"

namespace ecosort::engine::fixed {

// The result of merging into the output.
struct MergedOutput {
  Tally tally;                          // of the records written
  Tally dropped;                        // of those that groups left out
  std::uint64_t records_of_groups = 0;  // whose records went out, where that is decided when a group ends
  std::uint64_t equal_pairs = 0;        // neighbours with equal keys among what was written
};

// Coordinator only.
class CheckedOutput {
 public:
  CheckedOutput(WriteBehind& writer, Compute& compute, const records::Encoder& encoder, const RecordGroups& groups);

  [[nodiscard]] std::uint64_t records_per_batch() const noexcept { return writer_.capacity_bytes() / output_size_; }

  // Before the first batch: the output has so many records already, of which this is the last one.
  void continue_after(std::uint64_t records, std::vector<std::byte> last_record) {
    records_before_ = records;
    last_record_ = std::move(last_record);
  }

  // Before the first batch: the output begins with these bytes.
  [[nodiscard]] Task<void> put_head(std::span<const std::byte> head);

  // Returns where a batch may go; waits for a free block. `before` counts the records put here that are expected to lie before
  // the batch.
  [[nodiscard]] Task<std::byte*> take(std::uint64_t before) {
    std::byte* const place = co_await writer_.take(head_bytes_ + (records_before_ + before) * output_size_);
    co_return place + lead_bytes();
  }

  // The next batch, in order, at a place that take() gave. VerificationError if it is not in order, or does not follow the one
  // before. Returns once the write is under way.
  [[nodiscard]] Task<void> put(std::byte* records, std::uint64_t count, Checked checked);

  [[nodiscard]] Task<void> finish();
  // Waits for the tasks that make the batches, then ends the output; throws what went wrong in either.
  [[nodiscard]] Task<void> finish_after(io::Reactor& reactor, TaskGroup& makers);
  [[nodiscard]] Task<void> settle() { return writer_.settle(); }
  [[nodiscard]] std::uint64_t records_put() const noexcept { return merged_.tally.hash.count; }
  [[nodiscard]] const MergedOutput& merged() const noexcept { return merged_; }

 private:
  Task<void> end_groups();
  // Counts of the records of a batch, in front of it.
  [[nodiscard]] std::uint64_t lead_bytes() const noexcept {
    return records_per_batch() * (output_size_ - encoder_.record_size());
  }

  WriteBehind& writer_;
  Compute& compute_;
  const records::Encoder& encoder_;
  GroupPolicy policy_;
  std::uint32_t output_size_;           // of a record, with the count
  std::optional<GroupRecords> groups_;  // where there are some
  MergedOutput merged_;
  std::uint64_t head_bytes_ = 0;        // in front of the records
  std::uint64_t records_before_ = 0;    // in the output before the first batch
  std::vector<std::byte> last_record_;  // of the batch before
};

}  // namespace ecosort::engine::fixed
