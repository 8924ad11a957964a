// Whatever stands in a packed run block, also behind a checksum that is right: unpacking stays within the block and gives no more
// than a block holds. And what packing makes of any bytes gives them back.
//
// Input: a byte for the codec, two for the size on the drive; the block follows.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/memory.h"
#include "fuzz_support.h"
#include "run/packed_block.h"

namespace {

using namespace ecosort;
using fuzz::require;

constexpr std::size_t block_bytes = std::size_t{32} << 10U, guard_bytes = 64;
constexpr std::array all_terms{codec::BlockTerms{codec::BlockCodec::lz4, 0}, codec::BlockTerms{codec::BlockCodec::zstd, 1}};

struct Coder {
  explicit Coder(const codec::BlockTerms& terms)
      : memory(budget.allocate(run::PackedBlockCoder::memory_bytes(terms, block_bytes), "a coder")),
        coder(terms, block_bytes, {memory.data(), memory.size()}) {}
  MemoryBudget budget{std::uint64_t{64} << 20U};
  Buffer memory;
  run::PackedBlockCoder coder;
};

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
  const codec::BlockTerms& terms = all_terms[data[0] % all_terms.size()];
  static Coder coders[] = {Coder(all_terms[0]), Coder(all_terms[1])};
  run::PackedBlockCoder& coder = coders[data[0] % all_terms.size()].coder;
  const std::size_t wild = data[1] | std::size_t{data[2]} << 8U;
  std::vector<std::byte> block = block_of(data + head_bytes, size - head_bytes);
  const auto contents = coder.unpack(block.data(), std::min(wild, block_bytes));
  require(is_guard_whole(block), "unpacking stays within the block");
  if (contents) require(contents->used_bytes <= block_bytes - run::trailer_bytes, "a block holds no more than it can");

  const std::vector<std::byte> plain = block_of(data + head_bytes, size - head_bytes);
  block = plain;
  const auto used = static_cast<std::uint32_t>(1 + wild % (block_bytes - run::trailer_bytes));
  const std::size_t stored = coder.pack(terms, block.data(), wild, {used, used / 2});
  require(is_guard_whole(block), "packing stays within the block");
  if (stored == 0) return 0;
  require(stored < block_bytes && stored % page_bytes == 0, "what is packed takes fewer whole pages");
  require(run::is_intact(block.data(), stored, wild), "what is packed is sealed");
  const auto back = coder.unpack(block.data(), stored);
  require(back && back->used_bytes == used && back->carried_bytes == used / 2, "what was packed says what it holds");
  require(std::equal(block.begin(), block.begin() + used, plain.begin()), "what was packed comes back");
  return 0;
}
