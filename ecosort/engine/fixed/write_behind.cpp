#include "engine/fixed/write_behind.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/errors.h"
#include "base/full_drive.h"

namespace ecosort::engine::fixed {

WriteBehind::WriteBehind(Bench& bench, io::File& file, const planner::MergeBuffers& buffers, const OutputTerms& terms,
                         run::RunStore* runs)
    : storage_(bench.storage),
      reactor_(bench.reactor),
      runs_(runs),
      file_(file),
      block_bytes_(buffers.output_block_bytes),
      unit_(std::max<std::uint64_t>(file.write_unit(), terms.least_unit)),
      request_bytes_(terms.request_bytes == 0 || file.facts().is_stream ? block_bytes_ : round_up(terms.request_bytes, unit_)),
      reserve_bytes_(terms.reserve_bytes),
      total_bytes_(terms.total_bytes),
      progress_(bench.progress),
      blocks_(reactor_.scope(), bench.memory.allocate(buffers.output_block_bytes * buffers.output_blocks, "output blocks"),
              buffers.output_block_bytes, buffers.output_blocks),
      pieces_(buffers.output_blocks),
      writes_(reactor_.scope()),
      carry_(unit_),
      reserved_(terms.reserved_bytes),
      can_reserve_(!file.facts().is_stream) {
  // Writes inside the file's size need no exclusive lock in the file system.
  if (!file.facts().is_stream) storage_.set_size(file_, round_up(total_bytes_, unit_));
}

Task<void> WriteBehind::resume(std::uint64_t bytes) {
  offset_ = round_down(bytes, unit_);
  carry_bytes_ = bytes - offset_;
  durable_until_ = offset_;
  if (carry_bytes_ == 0) co_return;
  std::byte* const block = co_await blocks_.take();  // aligned
  co_await reactor_.read(file_, offset_, block, unit_, unit_);
  durable_unit_.assign(block, block + unit_);
  std::memcpy(carry_.data(), block, carry_bytes_);
  blocks_.give(block);
  durable_until_ += unit_;
}

void WriteBehind::resume_with_tail(std::uint64_t bytes, const std::vector<std::byte>& tail) {
  offset_ = round_down(bytes, unit_);
  carry_bytes_ = bytes - offset_;
  if (carry_bytes_ != tail.size()) throw InternalError("the tail of an output is not what is beyond its last full unit");
  std::ranges::copy(tail, carry_.begin());
}

Task<std::byte*> WriteBehind::take(std::uint64_t offset) {
  std::byte* const block = co_await blocks_.take();
  co_return block + offset % unit_;
}

Task<void> WriteBehind::put(std::byte* data, std::uint64_t bytes) {
  std::byte* const block = blocks_.block_of(data);
  if (data != block + carry_bytes_) std::memmove(block + carry_bytes_, data, bytes);
  std::memcpy(block, carry_.data(), carry_bytes_);
  const std::uint64_t total = carry_bytes_ + bytes;
  const std::uint64_t size = round_down(total, unit_);
  carry_bytes_ = total - size;
  std::memcpy(carry_.data(), block + size, carry_bytes_);
  const std::uint64_t offset = offset_;
  offset_ += size;
  co_await reserve_until(offset_);
  if (offset < durable_until_ && size > 0) {
    check_durable_unit(block, unit_);
    write_block(block, offset + unit_, unit_, size - unit_);
  } else {
    write_block(block, offset, 0, size);
  }
}

// The first `size` bytes of the block are to go where durable bytes are already.
void WriteBehind::check_durable_unit(const std::byte* block, std::uint64_t size) const {
  if (std::memcmp(block, durable_unit_.data(), size) != 0)
    throw IoError(
        fmt::format("'{}' does not hold at byte {} what the merge makes once more: it was changed, or the drive lost it",
                    file_.path(), durable_until_ - unit_));
}

unsigned& WriteBehind::pieces_of(const std::byte* block) noexcept { return pieces_[blocks_.number_of(block)]; }

// Writes the block from `skip` on; it is free again when all pieces are written.
void WriteBehind::write_block(std::byte* block, std::uint64_t offset, std::uint64_t skip, std::uint64_t size) {
  pieces_of(block) = static_cast<unsigned>(std::max<std::uint64_t>(div_up(size, request_bytes_), 1));
  std::uint64_t done = 0;
  do {
    const std::uint64_t piece = std::min(request_bytes_, size - done);
    writes_.spawn(write_piece(block, offset + done, block + skip + done, piece));
    done += piece;
  } while (done < size);
}

Task<void> WriteBehind::write_piece(std::byte* block, std::uint64_t offset, std::byte* data, std::uint64_t size) {
  co_await reactor_.write(file_, offset, data, size);
  progress_.add_bytes(size);
  if (--pieces_of(block) == 0) blocks_.give(block);
}

Task<void> WriteBehind::reserve_until(std::uint64_t end) {
  if (!can_reserve_ || end <= reserved_) co_return;
  const std::uint64_t until = std::min(std::max(end, reserved_ + reserve_bytes_), std::max(end, round_up(total_bytes_, unit_)));
  const std::uint64_t from = std::exchange(reserved_, until);
  if (co_await fits(from, until - from)) co_return;
  // Space that the merge has consumed may still be on its way back.
  if (runs_ != nullptr) co_await runs_->released();
  can_reserve_ = co_await reactor_.reserve(file_, from, until - from);
}

Task<bool> WriteBehind::fits(std::uint64_t from, std::uint64_t size) {
  try {
    can_reserve_ = co_await reactor_.reserve(file_, from, size);
  } catch (const IoError& error) {
    if (!is_full(error.error_number())) throw;
    co_return false;
  }
  co_return true;
}

Task<void> WriteBehind::finish() {
  if (carry_bytes_ > 0) {
    std::byte* const block = co_await take(0);
    std::memcpy(block, carry_.data(), carry_bytes_);
    std::memset(block + carry_bytes_, 0, unit_ - carry_bytes_);
    if (offset_ < durable_until_) {
      check_durable_unit(block, carry_bytes_);
      blocks_.give(block);
    } else {
      co_await reserve_until(offset_ + unit_);
      write_block(block, offset_, 0, unit_);
    }
  }
  co_await writes_.join();
  if (!file_.facts().is_stream) storage_.set_size(file_, written_bytes());
}

}  // namespace ecosort::engine::fixed
