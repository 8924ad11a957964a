#include "run/packed_runs.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/errors.h"

namespace ecosort::run {
namespace {

// Less space was reserved than the run may take, and the rest is not there.
[[noreturn]] void throw_beyond_promise(const IoError& error) {
  if (!io::is_full(error.error_number())) throw;
  throw IoError(
      fmt::format("{}: runs shrink less than was assumed; assume a smaller ratio, or give more temporary space", error.what()),
      error.error_number());
}

}  // namespace

std::size_t PackedRuns::create_perhaps_packed(std::uint64_t blocks) {
  if (packer_ == nullptr || !has_room_for_places(blocks)) return create_run(blocks);
  const std::size_t number = reserve_packed(blocks);
  places_ += run(number).ends.capacity();
  peak_places_ = std::max(peak_places_, places_);
  return number;
}

std::size_t PackedRuns::reserve_packed(std::uint64_t blocks) {
  try {
    return create_packed_run(blocks, packer_->plan().space_of(blocks * block_bytes()));
  } catch (const IoError& error) {
    if (!assumes_ratio()) throw;
    throw_beyond_promise(error);
  }
}

bool PackedRuns::has_room_for_places(std::uint64_t blocks) const noexcept {
  const bool are_countable = blocks * (block_bytes() / page_bytes) <= UINT32_MAX;
  return are_countable && (places_ + blocks) * sizeof(std::uint32_t) <= packer_->plan().index_bytes;
}

void PackedRuns::closed(std::size_t number) {
  if (!run(number).is_packed) return;
  places_ -= run(number).ends.capacity();
  forget_places(number);
}

void PackedRuns::append_packed(std::size_t number, std::size_t plain_bytes, std::size_t stored_bytes) {
  append(number, stored_bytes);
  packer_->account(plain_bytes, stored_bytes, stored_bytes < block_bytes());
}

BlockContents PackedRuns::unpack(const StoredRun& run, std::uint64_t block, const std::byte* packed, std::byte* to) const {
  const std::optional<BlockContents> contents = packer_->unpack(packed, stored_bytes(run, block), to);
  if (!contents) damaged(run, block);
  return *contents;
}

Task<void> PackedRuns::write_appended(std::size_t number, std::uint64_t first_block, std::byte* data, std::size_t size) {
  return assumes_ratio() ? write_beyond_promise(number, first_block, data, size) : write(number, first_block, data, size);
}

Task<void> PackedRuns::write_beyond_promise(std::size_t number, std::uint64_t first_block, std::byte* data, std::size_t size) {
  try {
    co_await write(number, first_block, data, size);
  } catch (const IoError& error) {
    throw_beyond_promise(error);
  }
}

}  // namespace ecosort::run
