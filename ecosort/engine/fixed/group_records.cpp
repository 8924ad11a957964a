#include "engine/fixed/group_records.h"

#include <cstring>

namespace ecosort::engine::fixed {

GroupRecords::GroupRecords(const RecordGroups& groups)
    : policy_(groups.policy),
      encoder_(groups.format),
      size_(groups.format.record_size),
      kept_(groups.format.record_size),
      next_(groups.format.record_size) {}

bool GroupRecords::are_grouped(const std::byte* a, const std::byte* b) const noexcept {
  return encoder_.prefix(a) == encoder_.prefix(b) && encoder_.compare(a, b) == 0;
}

void GroupRecords::drop(const std::byte* record, Tally& dropped) const noexcept { dropped.hash.add_records(record, 1, size_); }

std::uint64_t GroupRecords::reduce(std::byte* records, std::uint64_t count, std::byte* to, Tally& out, Tally& dropped) {
  if (policy_.is_decided_at_once()) return keep_first(records, count, out, dropped);
  std::byte* const begin = to;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::byte* const record = records + i * size_;
    if (rows_ > 0 && are_grouped(kept_.data(), record)) {
      ++rows_;
      drop(policy_.keeps_last ? kept_.data() : record, dropped);
      if (policy_.keeps_last) std::memcpy(kept_.data(), record, size_);
      continue;
    }
    std::memcpy(next_.data(), record, size_);  // what goes out now may take its place
    if (rows_ > 0) to = end_group(to, out, dropped);
    kept_.swap(next_);
    rows_ = 1;
  }
  return static_cast<std::uint64_t>(to - begin);
}

// The record that was kept last is compared with those of the next batch, too.
std::uint64_t GroupRecords::keep_first(std::byte* records, std::uint64_t count, Tally& out, Tally& dropped) {
  const std::byte* last = rows_ > 0 ? kept_.data() : nullptr;
  std::byte* to = records;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::byte* const record = records + i * size_;
    if (last == nullptr || !are_grouped(last, record)) {
      rows_ = 0;
    } else if (rows_ == policy_.most) {
      drop(record, dropped);
      continue;
    }
    ++rows_;
    // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): with a record to look at, `records` is not null
    if (to != record) std::memcpy(to, record, size_);
    last = to;
    to += size_;
  }
  const auto kept = static_cast<std::uint64_t>(to - records);
  if (kept == 0) return 0;
  out.hash.add_records(records, kept / size_, size_);
  std::memcpy(kept_.data(), last, size_);
  return kept;
}

std::byte* GroupRecords::end_group(std::byte* to, Tally& out, Tally& dropped) {
  if (!policy_.stays(rows_)) {
    drop(kept_.data(), dropped);
    return to;
  }
  records_of_groups_ += rows_;
  if (policy_.counts) {
    for (unsigned byte = 0; byte < count_bytes; ++byte) to[byte] = static_cast<std::byte>(rows_ >> 8U * byte);
    to += count_bytes;
  }
  std::memcpy(to, kept_.data(), size_);
  out.hash.add_records(to, 1, size_);
  return to + size_;
}

std::uint64_t GroupRecords::end(std::byte* to, Tally& out, Tally& dropped) {
  if (rows_ == 0 || policy_.is_decided_at_once()) return 0;
  const std::byte* const end = end_group(to, out, dropped);
  rows_ = 0;
  return static_cast<std::uint64_t>(end - to);
}

}  // namespace ecosort::engine::fixed
