#include "engine/rows/line_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/errors.h"

namespace ecosort::engine::rows {

LineSink::LineSink(const RowTools& tools)
    : reactor_(tools.bench.reactor),
      pool_(tools.pool),
      block_bytes_(tools.plan.block_bytes),
      progress_(tools.bench.progress),
      writes_(reactor_.scope()),
      has_marks_(tools.format.record_marks() != nullptr) {}

void LineSink::write_part(const io::File& file, std::byte* block, std::size_t from, std::size_t to, std::uint64_t offset) {
  if (from < to)
    writes_.spawn(await(reactor_.write(file, offset, block + from, to - from), block, to - from));
  else
    give_back(block);
}

Task<void> LineSink::await(Task<void> write, std::byte* block, std::size_t size) {
  co_await write;
  progress_.add_bytes(size);
  pool_.give(block);
}

RowRunSink::RowRunSink(const RowTools& tools, const run::RowRun& run)
    : LineSink(tools), runs_(tools.files), run_(run), stored_(runs_.run(run.stored)), packer_(runs_.packer_of(run.stored)) {}

std::size_t RowRunSink::pack(std::byte* block, run::BlockContents contents, std::uint64_t number) {
  if (packer_ == nullptr || contents.used_bytes == 0) return 0;
  if (number == 0) packing_ = packer_->choose(block, contents);
  if (packing_.is_none()) return 0;
  return packer_->pack(packing_, block, contents, stored_.seed + number, block);
}

void RowRunSink::complete(std::byte* block, run::BlockContents contents, std::uint64_t before) {
  const std::uint64_t number = next_block_ + before;
  const std::size_t packed = pack(block, contents, number);
  if (packed == 0) runs_.seal(stored_, number, block, contents);
  stored_bytes_[number % most_complete] = packed > 0 ? packed : block_bytes_;
}

void RowRunSink::put(std::byte* block, std::size_t bytes) {
  if (packer_ == nullptr) {
    writes_.spawn(await(runs_.write_block(run_, next_block_, block), block, block_bytes_));
  } else if (bytes == 0) {
    return give_back(block);
  } else {
    const std::size_t stored = stored_bytes_[next_block_ % most_complete];
    runs_.append_packed(run_.stored, bytes, stored, packing_.codec.codec);
    writes_.spawn(await(runs_.write_block(run_, next_block_, block), block, block_bytes_));
  }
  ++next_block_;
  bytes_ += bytes;
}

std::size_t OutputSink::written_size(std::size_t bytes) const noexcept { return round_up(bytes, file_.write_unit()); }

void OutputSink::complete(std::byte* block, run::BlockContents contents, std::uint64_t /*before*/) {
  take_marks_away(block, contents.used_bytes);
  std::memset(block + contents.used_bytes, 0, written_size(contents.used_bytes) - contents.used_bytes);
}

void OutputSink::expect(std::uint64_t bytes) {
  if (!is_reserved_) ahead_.emplace(bench_, file_, ByteRange{bytes_, bytes_ + bytes}, bytes);
}

void OutputSink::continue_at(DurableUnit unit) {
  bytes_ = unit.begin;
  durable_ = std::move(unit.bytes);
}

void OutputSink::put(std::byte* block, std::size_t bytes) {
  const std::size_t from = durable_.size(), size = written_size(bytes);
  if (from > 0 && std::memcmp(block, durable_.data(), std::min(from, bytes)) != 0)
    throw IoError(fmt::format("'{}' is not what was written to it: the lines at byte {} are others", file_.path(), bytes_));
  durable_.clear();
  if (ahead_) ahead_->reach(bytes_, writes_);
  padded_ |= size != bytes;
  write_part(file_, block, from, size, bytes_ + from);
  bytes_ += bytes;
}

Task<std::string> OutputSink::take_back_rest() {
  const std::size_t unit = file_.write_unit(), size = bytes_ % unit;
  if (size == 0) co_return std::string();
  std::byte* const block = co_await take();
  (void)co_await reactor_.read(file_, bytes_ - size, block, unit, size);
  std::string rest(reinterpret_cast<const char*>(block), size);
  give_back(block);
  bytes_ -= size;
  co_return rest;
}

}  // namespace ecosort::engine::rows
