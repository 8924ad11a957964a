// Keeps only records that may be among the first ones of the order (`--limit`): those that come before the bound go from the
// buffer into which they were read to another one.
//
//   read buffer  | records as they come ........ |      few of them come before the bound
//   kept buffer  | record | record | free | record |    index: | sorted, or as they came | places that are free |
//
// Once there are many more records than are wanted, the kept buffer is sorted, and the last ones are dropped: the last one that
// stays is the bound, and the places of the others are free.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/counted_bound.h"
#include "engine/fixed/group_records.h"
#include "engine/fixed/run_buffer.h"
#include "formats/records/encoder.h"

namespace ecosort::engine::fixed {

// As many records as are wanted come no later than this one, and were read before those that are compared with it. Immutable.
class RecordBound {
 public:
  RecordBound(const records::Encoder& encoder, const sorting::Entry& entry, const std::byte* record)
      : encoder_(encoder), entry_(entry), record_(record, record + encoder.record_size()) {}

  // Returns whether a record that is read later can be dropped.
  [[nodiscard]] bool is_behind(const sorting::Entry& entry, const std::byte* record) const noexcept {
    return compare(entry, record) <= 0;
  }
  // Return whether its record comes before the other one, and does not equal it.
  [[nodiscard]] bool is_before(const sorting::Entry& entry, const std::byte* record) const noexcept {
    return compare(entry, record) < 0;
  }
  [[nodiscard]] bool is_before(const RecordBound& other) const noexcept { return is_before(other.entry_, other.record_.data()); }

 private:
  [[nodiscard]] int compare(const sorting::Entry& entry, const std::byte* record) const noexcept {
    if (entry_.prefix != entry.prefix) return entry_.prefix < entry.prefix ? -1 : 1;
    if (entry_.extension != entry.extension) return entry_.extension < entry.extension ? -1 : 1;
    return encoder_.decides() ? 0 : encoder_.compare(record_.data(), record);
  }

  const records::Encoder& encoder_;
  sorting::Entry entry_;
  std::vector<std::byte> record_;
};

// For one thread at a time.
class LimitRecords {
 public:
  // Keeps of groups, whose records are decided at once, the first record of each of the first `wanted` ones. The kept buffer has
  // places for `capacity` records, and its index for as many entries.
  LimitRecords(const records::Encoder& encoder, std::uint64_t wanted, const RecordGroups& groups, std::uint64_t capacity)
      : encoder_(encoder), wanted_(wanted), capacity_(capacity), counted_(wanted) {
    if (groups.policy.is_on) group_keys_.emplace(groups.format);
  }

  // Makes all places of the kept buffer free.
  void begin(RunBuffer& kept) noexcept;
  // Takes records of `read` from number `from` on, in their order. Returns the number of the first one for which there is no
  // place.
  [[nodiscard]] std::uint64_t take(const RunBuffer& read, std::uint64_t from, RunBuffer& kept);
  // Returns whether it is worth while to sort and cut the kept buffer.
  [[nodiscard]] bool has_enough(const RunBuffer& kept) const noexcept;
  // The kept buffer is sorted: drops what is not among the first records. `scratch` has room for the entries of the index.
  void cut(RunBuffer& kept, sorting::Entry* scratch);
  // After cut(): returns whether so few places are free that the buffer had better be stored as a run.
  [[nodiscard]] bool is_crowded(const RunBuffer& kept) const noexcept { return !fits(kept.count, capacity_); }
  // Returns whether nothing will be stored.
  [[nodiscard]] static bool fits(std::uint64_t wanted, std::uint64_t capacity) noexcept { return wanted <= capacity / 4 * 3; }
  // The buffer is about to be stored.
  void count_stored(const RunBuffer& kept);

  // Returns what was dropped: with equal keys, and behind the bound.
  [[nodiscard]] const hash::MultisetHash& repeated() const noexcept { return repeated_; }
  [[nodiscard]] const hash::MultisetHash& beyond() const noexcept { return beyond_; }

 private:
  [[nodiscard]] const std::byte* record(const RunBuffer& kept, std::uint64_t i) const noexcept {
    return kept.table(encoder_.record_size()).at(kept.entries()[i].index);
  }
  [[nodiscard]] std::shared_ptr<const RecordBound> bound_at(const RunBuffer& kept, std::uint64_t i) const {
    return std::make_shared<const RecordBound>(encoder_, kept.entries()[i], record(kept, i));
  }
  void drop_repeated(RunBuffer& kept, sorting::Entry* scratch);
  [[nodiscard]] std::uint64_t records_to_keep(const RunBuffer& kept) const;
  void tighten(const std::shared_ptr<const RecordBound>& bound);

  const records::Encoder& encoder_;
  const std::uint64_t wanted_;
  const std::uint64_t capacity_;
  std::optional<records::Encoder> group_keys_;
  std::shared_ptr<const RecordBound> bound_;  // null: there is none
  CountedBound<RecordBound> counted_;
  hash::MultisetHash repeated_, beyond_;
  std::uint64_t used_places_ = 0;  // of the kept buffer: those of its records, and free ones
};

}  // namespace ecosort::engine::fixed
