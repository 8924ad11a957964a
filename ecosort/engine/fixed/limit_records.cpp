#include "engine/fixed/limit_records.h"

#include <algorithm>
#include <cstring>

namespace ecosort::engine::fixed {
namespace {

using sorting::Entry;

constexpr std::uint64_t few_records = 1024;    // are not worth a sort
constexpr std::uint64_t samples_of_run = 128;  // the bound by counting is off by no more than this share of each run

}  // namespace

void LimitRecords::begin(RunBuffer& kept) noexcept {
  kept.records = kept.bytes.data();
  kept.count = used_places_ = 0;
}

std::uint64_t LimitRecords::take(const RunBuffer& read, std::uint64_t from, RunBuffer& kept) {
  const std::uint32_t size = encoder_.record_size();
  hash::MultisetHash all, taken;
  std::uint64_t i = from;
  for (; i < read.count && kept.count < capacity_; ++i) {
    const Entry& entry = read.entries()[i];
    const std::byte* const record = read.records + i * size;
    if (wanted_ == 0 || (bound_ && bound_->is_behind(entry, record))) continue;
    Entry& place = kept.entries()[kept.count++];
    if (kept.count > used_places_) place.index = kept.first_index + static_cast<std::uint32_t>(used_places_++);
    place.prefix = entry.prefix;
    place.extension = entry.extension;
    std::memcpy(const_cast<std::byte*>(kept.table(size).at(place.index)), record, size);
    taken.add_records(record, 1, size);
  }
  if (from == 0 && i == read.count)
    all = read.tally.hash;
  else
    all.add_records(read.records + from * size, i - from, size);
  beyond_ += all;
  beyond_ -= taken;
  return i;
}

bool LimitRecords::has_enough(const RunBuffer& kept) const noexcept {
  return kept.count == capacity_ || (kept.count > few_records && kept.count / 2 >= wanted_);
}

// The places of what is dropped come behind the entries that stay.
void LimitRecords::drop_repeated(RunBuffer& kept, Entry* scratch) {
  Entry* const entries = kept.entries();
  std::uint64_t stay = std::min<std::uint64_t>(kept.count, 1), gone = 0;
  for (std::uint64_t i = 1; i < kept.count; ++i) {
    const std::byte* const here = record(kept, i);
    if (group_keys_->compare(record(kept, stay - 1), here) == 0) {
      repeated_.add_records(here, 1, encoder_.record_size());
      scratch[gone++] = entries[i];
    } else {
      entries[stay++] = entries[i];
    }
  }
  std::copy(scratch, scratch + gone, entries + stay);
  kept.count = stay;
}

// A record that equals the bound may have come before it.
std::uint64_t LimitRecords::records_to_keep(const RunBuffer& kept) const {
  const std::uint64_t most = std::min(kept.count, wanted_);
  if (!bound_) return most;
  const Entry* const entries = kept.entries();
  const records::RecordTable table = kept.table(encoder_.record_size());
  const Entry* const end = std::partition_point(
      entries, entries + most, [&](const Entry& entry) { return !bound_->is_before(entry, table.at(entry.index)); });
  return static_cast<std::uint64_t>(end - entries);
}

void LimitRecords::tighten(const std::shared_ptr<const RecordBound>& bound) {
  if (bound && (!bound_ || bound->is_before(*bound_))) bound_ = bound;
}

void LimitRecords::cut(RunBuffer& kept, Entry* scratch) {
  if (group_keys_) drop_repeated(kept, scratch);
  const std::uint64_t stay = records_to_keep(kept);
  if (stay > 0 && stay == wanted_) tighten(bound_at(kept, stay - 1));
  for (std::uint64_t i = stay; i < kept.count; ++i) beyond_.add_records(record(kept, i), 1, encoder_.record_size());
  kept.count = stay;
}

// A group that is in several runs is one in the end: no one knows how many there will be.
void LimitRecords::count_stored(const RunBuffer& kept) {
  if (group_keys_) return;
  const std::uint64_t step = div_up(kept.count, samples_of_run);
  for (std::uint64_t i = 0, end = 0; i < kept.count; i = end) {
    end = std::min(i + step, kept.count);
    counted_.add(bound_at(kept, end - 1), end - i);
  }
  tighten(counted_.bound());
}

}  // namespace ecosort::engine::fixed
