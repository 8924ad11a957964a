#include "engine/rows/packed_sink.h"

#include <algorithm>
#include <cstring>

namespace ecosort::engine::rows {
namespace {

constexpr std::size_t packed_blocks = 2;  // one is filled while the other one is written

std::size_t member_bytes(const Packing& packing, std::size_t block_bytes) noexcept {
  return round_up(codec::encoded_bound(packing.output.codec, block_bytes), page_bytes);
}

}  // namespace

std::uint64_t packing_bytes(const Packing& packing, std::size_t block_bytes) noexcept {
  return packing.encoders * (codec::encoder_bytes(packing.output, block_bytes) + member_bytes(packing, block_bytes)) +
         packed_blocks * block_bytes;
}

PackedSink::PackedSink(const RowTools& tools, io::File& file, MemoryBudget& memory, const Packing& packing)
    : LineSink(tools),
      file_(file),
      compute_(tools.bench.compute),
      members_(memory.allocate(packing.encoders * member_bytes(packing, block_bytes_), "compressed blocks", Pages::small)),
      packed_(reactor_.scope(), memory.allocate(packed_blocks * block_bytes_, "compressed output", Pages::small), block_bytes_,
              packed_blocks),
      workers_(packing.encoders),
      ending_(codec::ending_member(packing.output.codec)),
      free_workers_(reactor_.scope(), packing.encoders),
      turned_(reactor_.scope()) {
  std::byte* at = members_.data();
  for (Worker& worker : workers_) {
    worker = {codec::MemberEncoder::make(packing.output, block_bytes_), {at, member_bytes(packing, block_bytes_)}};
    at += worker.member.size();
    idle_.push_back(&worker);
  }
}

void PackedSink::put(std::byte* block, std::size_t bytes) {
  bytes_ += bytes;
  writes_.spawn(pack(block, bytes, put_++));
}

// Encoders are taken in the order of the blocks, so that the one whose turn it is has one.
Task<void> PackedSink::pack(std::byte* block, std::size_t bytes, std::uint64_t number) {
  co_await free_workers_.take();
  Worker& worker = *idle_.back();
  idle_.pop_back();
  std::size_t size = 0;
  auto work = compute_.run([&] { size = worker.encoder->encode({block, bytes}, worker.member); });
  co_await work;
  pool_.give(block);
  while (appended_ != number) co_await turned_.changed();
  co_await append(worker.member.first(size));
  progress_.add_bytes(bytes);
  ++appended_;
  turned_.notify();
  idle_.push_back(&worker);
  free_workers_.give();
}

Task<void> PackedSink::append(std::span<const std::byte> member) {
  while (!member.empty()) {
    if (filling_ == nullptr) filling_ = co_await packed_.take();
    const std::size_t size = std::min(member.size(), block_bytes_ - filled_);
    std::memcpy(filling_ + filled_, member.data(), size);
    filled_ += size;
    file_bytes_ += size;
    member = member.subspan(size);
    if (filled_ < block_bytes_) continue;
    writes_.spawn(write_packed(filling_, block_bytes_, file_bytes_ - block_bytes_));
    filling_ = nullptr;
    filled_ = 0;
  }
}

Task<void> PackedSink::write_packed(std::byte* block, std::size_t size, std::uint64_t offset) {
  co_await reactor_.write(file_, offset, block, size);
  packed_.give(block);
}

Task<void> PackedSink::finish() {
  co_await writes_.join();
  if (put_ == 0) {
    const Worker& worker = workers_.front();
    co_await append(worker.member.first(worker.encoder->encode({}, worker.member)));
  }
  co_await append(std::as_bytes(std::span(ending_)));
  if (filled_ > 0) {
    const std::size_t size = round_up(filled_, file_.write_unit());
    std::memset(filling_ + filled_, 0, size - filled_);
    writes_.spawn(write_packed(filling_, size, file_bytes_ - filled_));
    filled_ = 0;
  }
  co_await writes_.join();
}

}  // namespace ecosort::engine::rows
