#include "run/packed_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "base/full_drive.h"

namespace ecosort::run {
// Throws again where less space was reserved than the run may take, and the rest is not there. The message also says what the
// user can do; a job that outlives it says that itself.
void PackedRuns::throw_again(const IoError& error) const {
  if (!assumes_ratio() || !is_full(error.error_number())) throw;
  const char* const way_on = head_bytes() > 0 ? "" : "; assume a smaller ratio, or give more temporary space";
  throw IoError(fmt::format("{}: runs shrink less than was assumed{}", error.what(), way_on), error.error_number());
}

std::size_t PackedRuns::create_perhaps_packed(std::uint64_t blocks) {
  if (packer_ == nullptr || !has_room_for_places(blocks)) return create_run(blocks);
  const std::size_t number = reserve_packed(blocks);
  count_places(number);
  return number;
}

void PackedRuns::count_places(std::size_t number) noexcept {
  places_ += run(number).ends.capacity();
  peak_places_ = std::max(peak_places_, places_);
}

void PackedRuns::pack_where_possible(std::size_t number, std::uint64_t other_places) {
  const std::uint64_t blocks = run(number).blocks;
  if (packer_ == nullptr || !has_room_for_places(blocks + other_places)) return;
  make_packed(number, packer_->plan().space_of(blocks * block_bytes()));
  count_places(number);
}

Task<void> PackedRuns::find_packed(std::size_t number, std::uint64_t first_block, std::uint64_t stored_bytes) {
  check_room_for_places(run(number).blocks);
  co_await read_places(number, first_block, stored_bytes);
  count_places(number);
}

// The index has a share of the memory.
void PackedRuns::check_room_for_places(std::uint64_t blocks) const {
  if (packer_ == nullptr) throw InternalError("a packed run without coders for its blocks");
  const std::uint64_t have = packer_->plan().index_bytes, need = (places_ + blocks) * planner::place_bytes;
  if (need <= have) return;
  constexpr std::uint64_t share = 64;
  throw NotEnoughMemory(fmt::format("the places of {} compressed blocks of runs do not fit the memory", places_ + blocks),
                        have * share, need * share);
}

void PackedRuns::reserve_promised(std::size_t number) {
  try {
    (void)storage().reserve_patiently(run(number).file(), 0, run(number).space_bytes);
  } catch (const IoError& error) {
    throw_again(error);
  }
}

std::size_t PackedRuns::reserve_packed(std::uint64_t blocks) {
  try {
    return create_packed_run(blocks, packer_->plan().space_of(blocks * block_bytes()));
  } catch (const IoError& error) {
    throw_again(error);
  }
}

bool PackedRuns::has_room_for_places(std::uint64_t blocks) const noexcept {
  const bool are_countable = blocks * (block_bytes() / page_bytes) <= UINT32_MAX;
  return are_countable && (places_ + blocks) * planner::place_bytes <= packer_->plan().index_bytes;
}

void PackedRuns::closed(std::size_t number) {
  if (!run(number).is_packed) return;
  places_ -= run(number).ends.capacity();
  forget_places(number);
}

void PackedRuns::append_packed(std::size_t number, std::size_t plain_bytes, std::size_t stored_bytes, codec::BlockCodec codec) {
  append(number, stored_bytes, codec);
  packer_->account(plain_bytes, stored_bytes, stored_bytes < block_bytes());
}

BlockContents PackedRuns::unpack(const StoredRun& run, std::uint64_t block, const std::byte* packed, std::byte* to) const {
  const std::optional<BlockContents> contents = packer_->unpack(packed, stored_bytes(run, block), to, block_bytes());
  if (!contents) damaged(run, block);
  return *contents;
}

RowsOfBlock PackedRuns::unpack_rows(const StoredRun& run, std::uint64_t block, const std::byte* packed, std::byte* to) const {
  if (const auto rows = packer_->unpack_truncated(packed, stored_bytes(run, block), to)) return {rows->contents, rows};
  return {unpack(run, block, packed, to), {}};
}

Task<void> PackedRuns::write_appended(std::size_t number, std::uint64_t first_block, std::byte* data, std::size_t size) {
  return assumes_ratio() ? write_beyond_promise(number, first_block, data, size) : write(number, first_block, data, size);
}

Task<void> PackedRuns::write_beyond_promise(std::size_t number, std::uint64_t first_block, std::byte* data, std::size_t size) {
  try {
    co_await write(number, first_block, data, size);
  } catch (const IoError& error) {
    throw_again(error);
  }
}

Task<void> PackedRuns::write_description(std::size_t number, Description description) {
  try {
    co_await write_described(number, std::move(description));
  } catch (const IoError& error) {
    throw_again(error);
  }
}

}  // namespace ecosort::run
