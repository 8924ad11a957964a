#include "engine/fixed/sorted_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/errors.h"
#include "engine/fixed/check_keys.h"
#include "run/described_block.h"

namespace ecosort::engine::fixed {

namespace {

// A file without run blocks is one of a single large one in each block.
std::uint64_t records_per_run_block(const FilesTools& tools, const Input& input) {
  return input.run ? input.run->records_per_block() : tools.plan.block_records;
}

std::uint64_t run_blocks_per_block(const FilesTools& tools, const Input& input) {
  return input.run ? tools.plan.block_bytes / input.run->block_bytes : 1;
}

}  // namespace

SortedFile::SortedFile(const FilesTools& tools, Input& input, run::RunPacker* coders, std::byte* memory, Signal& arrived)
    : reactor_(tools.bench.reactor),
      compute_(tools.bench.compute),
      encoder_(tools.encoder),
      input_(input),
      coders_(coders),
      checksum_(tools.checksum),
      hashes_(tools.hashes),
      run_block_records_(records_per_run_block(tools, input)),
      run_blocks_(run_blocks_per_block(tools, input)),
      block_records_(run_block_records_ * run_blocks_),
      records_(input.records),
      record_size_(encoder_.record_size()),
      slots_{Slot{.data = memory, .checked = {}}, Slot{.data = memory + tools.plan.block_bytes, .checked = {}}},
      arrived_(arrived) {
  if (input.run) run_block_stride_ = static_cast<std::int64_t>(input.run->block_bytes);
  if (input.run && input.run->direction == run::Direction::backward) run_block_stride_ = -run_block_stride_;
}

std::uint64_t SortedFile::records_of(std::uint64_t block) const noexcept {
  return std::min(block_records_, records_ - block * block_records_);
}

std::uint64_t SortedFile::run_blocks_of(std::uint64_t block) const noexcept {
  return div_up(records_of(block), run_block_records_);
}

// The first run block comes last where a run lies backwards.
std::byte* SortedFile::begin_of(std::uint64_t block) const noexcept {
  std::byte* const data = slots_[block % slots_.size()].data;
  return run_block_stride_ >= 0 ? data : data - static_cast<std::int64_t>(run_blocks_of(block) - 1) * run_block_stride_;
}

void SortedFile::request(TaskGroup& group) {
  while (requested_ * block_records_ < records_ && requested_ < consumed_ / block_records_ + slots_.size()) {
    ++loading_;
    group.spawn(load(requested_++));
  }
}

Task<void> SortedFile::read(std::uint64_t block, std::byte* data) {
  if (input_.run) {
    const std::uint64_t count = run_blocks_of(block), bytes = bytes_of(block);
    std::byte* const to = data + count * input_.run->block_bytes - bytes;
    (void)co_await reactor_.read(*input_.file, input_.run->place_of(block * run_blocks_, count), to, bytes, bytes);
    co_return;
  }
  const std::uint64_t bytes = records_of(block) * record_size_;
  const std::uint64_t unit = input_.file->alignment() > 1 ? page_bytes : 1;
  const std::uint64_t at = input_.begin() + block * block_records_ * record_size_;
  (void)co_await reactor_.read(*input_.file, at, data, round_up(bytes, unit), bytes);
}

// Returns what its run blocks take in the file.
std::uint64_t SortedFile::bytes_of(std::uint64_t block) const noexcept {
  return input_.run->bytes_of(block * run_blocks_, run_blocks_of(block));
}

// Run block by run block, each as soon as it is known to be what was written. What is packed is smaller: no block reaches what of
// later ones is still to be looked at.
Checked SortedFile::check(std::uint64_t block) const {
  OutputCheck check(encoder_, hashes_);
  sortbenchmark::Checksum checksum;
  const std::uint64_t step = records_per_check(encoder_);  // so that memory is read once
  std::byte* at = begin_of(block);
  const bool is_packed = input_.run && input_.run->is_packed();
  const std::byte* packed =
      is_packed ? at + static_cast<std::int64_t>(run_blocks_of(block)) * run_block_stride_ - bytes_of(block) : nullptr;
  for (std::uint64_t left = records_of(block), number = block * run_blocks_; left > 0; ++number, at += run_block_stride_) {
    const std::uint64_t count = std::min(left, run_block_records_);
    if (input_.run) run::open_block(*input_.run, input_.file->path(), number, is_packed ? packed : at, at, coders_);
    if (is_packed) packed += input_.run->bytes_of(number, 1);
    for (std::uint64_t i = 0; i < count; i += step) {
      const std::uint64_t n = std::min(step, count - i);
      check_keys(encoder_, at + i * record_size_, n, input_.file->path(), block * block_records_ + records_of(block) - left + i);
      check.add(at + i * record_size_, n);
      if (checksum_) checksum += sortbenchmark::crc_sum(at + i * record_size_, n);
    }
    left -= count;
  }
  Checked checked = check.result();
  checked.tally.checksum = checksum;
  return checked;
}

Task<void> SortedFile::load(std::uint64_t block) {
  Slot& slot = slots_[block % slots_.size()];
  co_await read(block, slot.data);
  auto work = compute_.run([&] { slot.checked = check(block); });
  co_await work;
  slot.arrived = true;
  --loading_;
  accept();
  arrived_.notify();
}

// Blocks may arrive in any order; they are looked at in theirs.
void SortedFile::accept() {
  while (accepted_ < requested_ && slots_[accepted_ % slots_.size()].arrived) {
    Slot& slot = slots_[accepted_ % slots_.size()];
    const std::uint64_t first = accepted_ * block_records_;
    const std::byte* const before = last_.empty() ? nullptr : last_.data();
    const bool follows = before == nullptr || pair_in_order(before, record(first), encoder_);
    if (!follows || !slot.checked.in_order) refuse(accepted_, before);
    const std::byte* const last = record(first + records_of(accepted_) - 1);
    last_.assign(last, last + record_size_);
    tally_ += slot.checked.tally;
    slot.arrived = false;
    ++accepted_;
  }
}

void SortedFile::refuse(std::uint64_t block, const std::byte* before) const {
  std::uint64_t number = block * block_records_;
  while (before == nullptr || pair_in_order(before, record(number), encoder_)) before = record(number++);
  throw NotSorted(fmt::format("'{}' is not in order: record {} (counted from 0) comes before record {}", input_.file->path(),
                              number, number - 1),
                  number);
}

RunView SortedFile::view() const {
  RunView view;
  const std::uint64_t first = consumed_ / block_records_;
  view.first = first * block_records_;
  for (std::uint64_t block = first; block < accepted_; ++block) view.blocks.push_back(begin_of(block));
  view.records_per_run_block = static_cast<std::uint32_t>(run_block_records_);
  view.run_blocks_per_block = static_cast<std::uint32_t>(run_blocks_);
  view.run_block_stride = run_block_stride_;
  view.record_size = record_size_;
  return view;
}

const std::byte* SortedFile::record(std::uint64_t number) const noexcept {
  const std::uint64_t within = number % block_records_;
  return begin_of(number / block_records_) + static_cast<std::int64_t>(within / run_block_records_) * run_block_stride_ +
         within % run_block_records_ * record_size_;
}

}  // namespace ecosort::engine::fixed
