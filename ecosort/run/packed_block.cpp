#include "run/packed_block.h"

#include <cstring>

#include "base/memory.h"
#include "hash/block_checksum.h"

namespace ecosort::run {
namespace {

// The first bytes of a packed block, in the byte order of the machine that wrote it.
struct Head {
  std::uint32_t stored_bytes = 0, packed_bytes = 0;
  BlockContents contents;
  codec::BlockCodec codec = codec::BlockCodec::none;
  std::uint8_t zeros[7] = {};
};
static_assert(sizeof(Head) == 24);

constexpr std::size_t checksum_bytes = sizeof(std::uint64_t);

// Bytes that are packed at most: with head and checksum a page less than the block.
std::size_t most_packed_bytes(std::size_t block_bytes) noexcept {
  return block_bytes > page_bytes ? block_bytes - page_bytes - sizeof(Head) - checksum_bytes : 0;
}

bool is_possible(const Head& head, std::size_t stored_bytes, std::size_t block_bytes) noexcept {
  if (head.stored_bytes != stored_bytes || stored_bytes < sizeof(Head) + checksum_bytes || stored_bytes > block_bytes)
    return false;
  if (head.packed_bytes > stored_bytes - sizeof(Head) - checksum_bytes) return false;
  return head.contents.used_bytes <= block_bytes - trailer_bytes && head.contents.carried_bytes <= head.contents.used_bytes;
}

}  // namespace

std::uint64_t PackedBlockCoder::memory_bytes(const codec::BlockTerms& terms, std::size_t block_bytes) noexcept {
  return block_bytes + round_up(codec::BlockCoder::memory_bytes(terms, block_bytes), page_bytes);
}

PackedBlockCoder::PackedBlockCoder(const codec::BlockTerms& terms, std::size_t block_bytes, std::span<std::byte> memory)
    : block_bytes_(block_bytes), room_(memory.data()), coder_(terms, block_bytes, memory.subspan(block_bytes)) {}

std::size_t PackedBlockCoder::try_out(const codec::BlockTerms& terms, const std::byte* block, BlockContents contents) {
  const std::span<const std::byte> records{block, contents.used_bytes};
  const auto packed = coder_.encode(terms, records, {room_ + sizeof(Head), most_packed_bytes(block_bytes_)});
  return packed ? round_up(sizeof(Head) + *packed + checksum_bytes, page_bytes) : block_bytes_;
}

std::size_t PackedBlockCoder::pack(const codec::BlockTerms& terms, std::byte* block, std::uint64_t seed, BlockContents contents) {
  const std::span<const std::byte> records{block, contents.used_bytes};
  const auto packed = coder_.encode(terms, records, {room_ + sizeof(Head), most_packed_bytes(block_bytes_)});
  if (!packed) return 0;
  const std::size_t end = sizeof(Head) + *packed, stored = round_up(end + checksum_bytes, page_bytes);
  const Head head{static_cast<std::uint32_t>(stored), static_cast<std::uint32_t>(*packed), contents, terms.codec};
  std::memcpy(block, &head, sizeof head);
  std::memcpy(block + sizeof head, room_ + sizeof head, *packed);
  std::memset(block + end, 0, stored - end);
  const std::uint64_t checksum = records::block_checksum(block, stored - checksum_bytes, seed);
  std::memcpy(block + stored - checksum_bytes, &checksum, sizeof checksum);
  return stored;
}

std::optional<BlockContents> PackedBlockCoder::unpack(std::byte* block, std::size_t stored_bytes) {
  Head head;
  std::memcpy(&head, block, sizeof head);
  if (!is_possible(head, stored_bytes, block_bytes_)) return std::nullopt;
  std::memcpy(room_, block + sizeof head, head.packed_bytes);
  const bool is_whole = coder_.decode(head.codec, {room_, head.packed_bytes}, {block, head.contents.used_bytes});
  return is_whole ? std::optional(head.contents) : std::nullopt;
}

}  // namespace ecosort::run
