#include "lines/line_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "base/errors.h"
#include "base/random.h"
#include "records/block_checksum.h"

namespace ecosort::lines {

RunFiles::RunFiles(io::Storage& storage, io::Reactor& reactor, std::vector<std::string> directories, std::size_t block_bytes)
    : storage_(storage), reactor_(reactor), directories_(std::move(directories)), block_bytes_(block_bytes) {
  std::random_device device;
  job_ = (std::uint64_t{device()} << 32U) | device();
}

StoredRun RunFiles::create(std::uint64_t bytes) {
  StoredRun run;
  const std::string& directory = directories_[created_ % directories_.size()];
  run.seed = Random(job_ + created_).next();
  run.bytes = bytes;
  ++created_;
  run.file = storage_.create_unnamed(directory, io::Role::run, io::Caching::direct_if_possible);
  run.space = run.blocks(block_bytes_) * block_bytes_;
  (void)storage_.reserve(*run.file, 0, run.space);
  allocated_ += run.space;
  peak_ = std::max(peak_, allocated_);
  return run;
}

void RunFiles::complete(StoredRun& run, std::uint64_t bytes) {
  run.bytes = bytes;
  const std::uint64_t space = run.blocks(block_bytes_) * block_bytes_;
  if (space < run.space) storage_.set_size(*run.file, space);
  allocated_ = allocated_ - run.space + space;
  peak_ = std::max(peak_, allocated_);
  run.space = space;
}

void RunFiles::seal(const StoredRun& run, std::uint64_t block, std::byte* data, std::size_t size) {
  const std::uint64_t sum = records::block_checksum(data, size - block_checksum_bytes, run.seed + block);
  std::memcpy(data + size - block_checksum_bytes, &sum, sizeof sum);
}

void RunFiles::check(const StoredRun& run, std::uint64_t block, const std::byte* data, std::size_t size) {
  std::uint64_t sum = 0;
  std::memcpy(&sum, data + size - block_checksum_bytes, sizeof sum);
  if (sum == records::block_checksum(data, size - block_checksum_bytes, run.seed + block)) return;
  throw IoError(
      fmt::format("a run in '{}' is damaged: block {} does not match its checksum (check the drive)", run.file->path(), block));
}

Task<void> RunFiles::release(const StoredRun& run, std::uint64_t first, std::uint64_t last) {
  (void)co_await reactor_.release(*run.file, first * block_bytes_, (last - first) * block_bytes_);
  allocated_ -= (last - first) * block_bytes_;
}

void RunFiles::forget(const StoredRun& run, std::uint64_t released_blocks) {
  allocated_ -= run.space - released_blocks * block_bytes_;
}

BlockPool::BlockPool(io::Reactor& reactor, MemoryBudget& memory, const LinePlan& plan)
    : memory_(memory.allocate(plan.write_bytes(), "write blocks", plan.pages)), free_(reactor.gate(), plan.write_blocks) {
  for (unsigned i = 0; i < plan.write_blocks; ++i) idle_.push_back(memory_.data() + i * plan.block_bytes);
}

Task<std::byte*> BlockPool::take() {
  co_await free_.take();
  std::byte* const block = idle_.back();
  idle_.pop_back();
  co_return block;
}

void BlockPool::give(std::byte* block) {
  idle_.push_back(block);
  free_.give();
}

LineSink::LineSink(io::Reactor& reactor, BlockPool& pool, std::size_t block_bytes, pipeline::Progress& progress)
    : reactor_(reactor), pool_(pool), block_bytes_(block_bytes), progress_(progress), writes_(reactor.gate()) {}

Task<void> LineSink::write(const io::File& file, std::uint64_t offset, std::byte* block, std::size_t size) {
  co_await reactor_.write(file, offset, block, size);
  progress_.add_bytes(size);
  pool_.give(block);
}

void RunSink::complete(std::byte* block, std::size_t bytes, std::uint64_t before) const {
  std::memset(block + bytes, 0, block_bytes_ - bytes);
  RunFiles::seal(run_, next_block_ + before, block, block_bytes_);
}

void RunSink::put(std::byte* block, std::size_t bytes) {
  writes_.spawn(write(*run_.file, next_block_ * block_bytes_, block, block_bytes_));
  ++next_block_;
  bytes_ += bytes;
}

std::size_t OutputSink::written_size(std::size_t bytes) const noexcept {
  return file_.is_direct() ? round_up(bytes, std::max<std::size_t>(file_.alignment(), page_bytes)) : bytes;
}

void OutputSink::complete(std::byte* block, std::size_t bytes, std::uint64_t /*before*/) const {
  std::memset(block + bytes, 0, written_size(bytes) - bytes);
}

void OutputSink::put(std::byte* block, std::size_t bytes) {
  const std::size_t size = written_size(bytes);
  padded_ |= size != bytes;
  writes_.spawn(write(file_, bytes_, block, size));
  bytes_ += bytes;
}

}  // namespace ecosort::lines
