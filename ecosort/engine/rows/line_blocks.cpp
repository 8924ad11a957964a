#include "engine/rows/line_blocks.h"

#include <algorithm>
#include <cstring>

namespace ecosort::lines {

LineSink::LineSink(const RowTools& tools)
    : reactor_(tools.bench.reactor),
      pool_(tools.pool),
      block_bytes_(tools.plan.block_bytes),
      progress_(tools.bench.progress),
      writes_(reactor_.scope()) {}

Task<void> LineSink::await(Task<void> write, std::byte* block, std::size_t size) {
  co_await write;
  progress_.add_bytes(size);
  pool_.give(block);
}

void RunSink::complete(std::byte* block, run::BlockContents contents, std::uint64_t before) const {
  runs_.seal(stored_, next_block_ + before, block, contents);
}

void RunSink::put(std::byte* block, std::size_t bytes) {
  writes_.spawn(await(runs_.write_block(run_, next_block_, block), block, block_bytes_));
  ++next_block_;
  bytes_ += bytes;
}

std::size_t OutputSink::written_size(std::size_t bytes) const noexcept { return round_up(bytes, file_.write_unit()); }

void OutputSink::complete(std::byte* block, run::BlockContents contents, std::uint64_t /*before*/) const {
  std::memset(block + contents.used_bytes, 0, written_size(contents.used_bytes) - contents.used_bytes);
}

void OutputSink::put(std::byte* block, std::size_t bytes) {
  const std::size_t size = written_size(bytes);
  padded_ |= size != bytes;
  writes_.spawn(await(reactor_.write(file_, bytes_, block, size), block, size));
  bytes_ += bytes;
}

}  // namespace ecosort::lines
