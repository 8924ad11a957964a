#include "engine/fixed/sorted_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/errors.h"

namespace ecosort::engine {

SortedFile::SortedFile(const FilesTools& tools, Input& input, std::byte* memory, Signal& arrived)
    : reactor_(tools.bench.reactor),
      compute_(tools.bench.compute),
      encoder_(tools.encoder),
      input_(input),
      block_records_(tools.plan.block_records),
      records_(input.records),
      record_size_(encoder_.record_size()),
      slots_{Slot{.data = memory, .checked = {}}, Slot{.data = memory + tools.plan.block_bytes, .checked = {}}},
      arrived_(arrived) {}

std::uint64_t SortedFile::records_of(std::uint64_t block) const noexcept {
  return std::min(block_records_, records_ - block * block_records_);
}

void SortedFile::request(TaskGroup& group) {
  while (requested_ * block_records_ < records_ && requested_ < consumed_ / block_records_ + slots_.size()) {
    ++loading_;
    group.spawn(load(requested_++));
  }
}

Task<void> SortedFile::load(std::uint64_t block) {
  Slot& slot = slots_[block % slots_.size()];
  const std::uint64_t count = records_of(block), bytes = count * record_size_;
  const std::uint64_t unit = input_.file->alignment() > 1 ? page_bytes : 1;
  const std::uint64_t at = input_.begin() + block * block_records_ * record_size_;
  (void)co_await reactor_.read(*input_.file, at, slot.data, round_up(bytes, unit), bytes);
  auto check = compute_.run([&] { slot.checked = check_records(slot.data, count, encoder_); });
  co_await check;
  slot.arrived = true;
  --loading_;
  accept();
  arrived_.notify();
}

// Blocks may arrive in any order; they are looked at in theirs.
void SortedFile::accept() {
  while (accepted_ < requested_ && slots_[accepted_ % slots_.size()].arrived) {
    Slot& slot = slots_[accepted_ % slots_.size()];
    const std::byte* const before = last_.empty() ? nullptr : last_.data();
    const bool follows = before == nullptr || pair_in_order(before, slot.data, encoder_);
    if (!follows || !slot.checked.in_order) refuse(accepted_, before);
    const std::byte* const last = slot.data + (records_of(accepted_) - 1) * record_size_;
    last_.assign(last, last + record_size_);
    tally_ += slot.checked.tally;
    slot.arrived = false;
    ++accepted_;
  }
}

void SortedFile::refuse(std::uint64_t block, const std::byte* before) const {
  const std::byte* at = slots_[block % slots_.size()].data;
  std::uint64_t number = block * block_records_;
  while (before == nullptr || pair_in_order(before, at, encoder_)) {
    before = std::exchange(at, at + record_size_);
    ++number;
  }
  throw NotSorted(fmt::format("'{}' is not in order: record {} (counted from 0) comes before record {}", input_.file->path(),
                              number, number - 1),
                  number);
}

RunView SortedFile::view() const {
  RunView view;
  const std::uint64_t first = consumed_ / block_records_;
  view.first = first * block_records_;
  for (std::uint64_t block = first; block < accepted_; ++block) view.blocks.push_back(slots_[block % slots_.size()].data);
  view.records_per_run_block = static_cast<std::uint32_t>(block_records_);
  view.record_size = record_size_;
  return view;
}

const std::byte* SortedFile::record(std::uint64_t number) const noexcept {
  return slots_[number / block_records_ % slots_.size()].data + number % block_records_ * record_size_;
}

}  // namespace ecosort::engine
