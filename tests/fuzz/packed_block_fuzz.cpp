// A packed run block holds any bytes, also behind a checksum that is right: unpacking stays within the block and gives no more
// than a block holds. And what packing makes of any bytes gives them back: rows of any length, and records as they are and by
// columns.
//
// Input: a byte for the codec and the shape, two for the size on the drive; the block follows.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "base/memory.h"
#include "fuzz_support.h"
#include "run/packed_block.h"

namespace {

using namespace ecosort;
using ecosort::fuzz::require;

constexpr std::size_t block_bytes = std::size_t{32} << 10U, guard_bytes = 64;
constexpr std::array codecs{ecosort::codec::BlockTerms{ecosort::codec::BlockCodec::lz4, 0},
                            ecosort::codec::BlockTerms{ecosort::codec::BlockCodec::zstd, 1},
                            ecosort::codec::BlockTerms{ecosort::codec::BlockCodec::prefix, 0}};
constexpr std::array<std::uint32_t, 8> record_sizes{0, 1, 7, 16, 100, 333, 4096, 20'000};  // 0: rows

struct Coder {
  Coder(const ecosort::codec::BlockTerms& terms, std::uint32_t record_size)
      : shape{block_bytes, record_size},
        memory(budget.allocate(ecosort::run::PackedBlockCoder::memory_bytes(terms, shape), "a coder")),
        coder(terms, shape, {memory.data(), memory.size()}) {}
  ecosort::run::BlockShape shape;
  MemoryBudget budget{std::uint64_t{64} << 20U};
  Buffer memory;
  ecosort::run::PackedBlockCoder coder;
};

ecosort::run::PackedBlockCoder& coder_of(std::size_t codec, std::size_t shape) {
  static std::array<std::array<std::unique_ptr<Coder>, record_sizes.size()>, codecs.size()> coders;
  std::unique_ptr<Coder>& coder = coders[codec][shape];
  if (!coder) coder = std::make_unique<Coder>(codecs[codec], record_sizes[shape]);
  return coder->coder;
}

std::vector<std::byte> block_of(const std::uint8_t* data, std::size_t size) {
  std::vector<std::byte> block(block_bytes + guard_bytes, std::byte{0xAA});
  for (std::size_t at = 0; at < block_bytes && size > 0; at += size)
    std::memcpy(block.data() + at, data, std::min(size, block_bytes - at));
  return block;
}

bool is_guard_whole(const std::vector<std::byte>& block) {
  return std::all_of(block.begin() + block_bytes, block.end(), [](std::byte byte) { return byte == std::byte{0xAA}; });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t head_bytes = 3;
  if (size <= head_bytes) return 0;
  const bool is_changed = data[0] / 16 % 2 == 1, is_prefix = data[0] / 32 % 2 == 1;
  const std::size_t shape = is_prefix ? 0 : data[0] / 2 % record_sizes.size(), codec = is_prefix ? 2 : data[0] % 2;
  const std::uint32_t record_size = record_sizes[shape];
  const ecosort::run::PackTerms terms{codecs[codec], record_size > 0 && is_changed,
                                      record_size == 0 && (is_changed || is_prefix)};
  ecosort::run::PackedBlockCoder& coder = coder_of(codec, shape);
  const std::size_t wild = data[1] | std::size_t{data[2]} << 8U;
  std::vector<std::byte> block = block_of(data + head_bytes, size - head_bytes);
  const auto contents = coder.unpack(block.data(), std::min(wild, block_bytes), block.data());
  require(is_guard_whole(block), "unpacking stays within the block");
  if (contents) require(contents->used_bytes <= block_bytes - ecosort::run::trailer_bytes, "a block holds no more than it can");

  const std::size_t smaller = page_bytes + wild % (block_bytes - page_bytes);
  std::vector<std::byte> other = block_of(data + head_bytes, size - head_bytes), room(block_bytes + guard_bytes, std::byte{0xAA});
  (void)coder.unpack(other.data(), std::min(wild, block_bytes), room.data(), smaller);
  require(std::all_of(room.begin() + static_cast<std::ptrdiff_t>(smaller), room.end(),
                      [](std::byte byte) { return byte == std::byte{0xAA}; }),
          "and within a smaller one");

  const std::vector<std::byte> plain = block_of(data + head_bytes, size - head_bytes);
  block = plain;
  const auto any = static_cast<std::uint32_t>(1 + wild % (block_bytes - ecosort::run::trailer_bytes));
  const std::uint32_t used = record_size == 0 ? any : std::max(any / record_size, 1U) * record_size;
  const std::size_t stored = coder.pack(terms, block.data(), {used, used / 2}, wild, block.data());
  require(is_guard_whole(block), "packing stays within the block");
  if (stored == 0) return 0;
  require(stored < block_bytes && stored % page_bytes == 0, "what is packed takes fewer whole pages");
  require(ecosort::run::is_intact(block.data(), stored, wild), "what is packed is sealed");
  const auto back = coder.unpack(block.data(), stored, block.data());
  require(back && back->used_bytes == used && back->carried_bytes == used / 2, "what was packed says what it holds");
  require(std::equal(block.begin(), block.begin() + used, plain.begin()), "what was packed comes back");
  return 0;
}
