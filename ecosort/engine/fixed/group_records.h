// Records of groups of equal keys: which of a merged batch go out, with the number of their group in front (GroupPolicy).
//
//   batch  | (8 bytes for each record) | records ....... |     a counted output is longer than the batch: what goes out is put
//   output | count | record | count | record | ....            together from the front, and never passes the record that is next
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/fixed/tally.h"
#include "engine/group_policy.h"
#include "formats/records/encoder.h"

namespace ecosort::engine::fixed {

inline constexpr std::uint32_t count_bytes = sizeof(std::uint64_t);  // little-endian

// Says which records go out, and by which keys they are equal. By default all go out.
struct RecordGroups {
  GroupPolicy policy{};
  records::RecordFormat format{};  // by whose keys records are equal

  [[nodiscard]] std::uint32_t output_bytes(std::uint32_t record_size) const noexcept {
    return record_size + (policy.counts ? count_bytes : 0);
  }
};

// For one thread at a time.
class GroupRecords {
 public:
  explicit GroupRecords(const RecordGroups& groups);

  // Reduces a batch of merged records to those that go out: at `to`, which is `records` itself, or as many counts before it as
  // there are records. Returns their bytes. Adds up what goes out, and what is dropped.
  [[nodiscard]] std::uint64_t reduce(std::byte* records, std::uint64_t count, std::byte* to, Tally& out, Tally& dropped);
  // Returns whether the last group is still to go out: at `to`, one record.
  [[nodiscard]] std::uint64_t end(std::byte* to, Tally& out, Tally& dropped);

  // Returns how many records the groups have that went out.
  [[nodiscard]] std::uint64_t records_of_groups() const noexcept { return records_of_groups_; }

 private:
  [[nodiscard]] std::uint64_t keep_first(std::byte* records, std::uint64_t count, Tally& out, Tally& dropped);
  [[nodiscard]] bool are_grouped(const std::byte* a, const std::byte* b) const noexcept;
  [[nodiscard]] std::byte* end_group(std::byte* to, Tally& out, Tally& dropped);
  void drop(const std::byte* record, Tally& dropped) const noexcept;

  GroupPolicy policy_;
  records::Encoder encoder_;
  std::uint32_t size_;
  std::uint64_t rows_ = 0;              // of the group that has begun; 0: none. Where it is decided at once, those that went out
  std::vector<std::byte> kept_, next_;  // its record that may go out; the first one of the group behind it
  std::uint64_t records_of_groups_ = 0;
};

}  // namespace ecosort::engine::fixed
