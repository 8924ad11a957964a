#include "run/packed_block.h"

#include <algorithm>
#include <cstring>

#include "base/memory.h"
#include "codec/transpose.h"
#include "hash/block_checksum.h"
#include "plan/packing_plan.h"

namespace ecosort::run {
namespace {

// The first bytes of a packed block, in the byte order of the machine that wrote it.
struct Head {
  std::uint32_t stored_bytes = 0, packed_bytes = 0;
  BlockContents contents;
  codec::BlockCodec codec = codec::BlockCodec::none;
  std::uint8_t zeros[3] = {};
  std::uint32_t width = 0;  // of the records, which are transposed; 0: they are not
};
static_assert(sizeof(Head) == 24);

constexpr std::size_t packed_checksum_bytes = sizeof(std::uint64_t);

// Bytes that are packed at most: with head and checksum a page less than the block.
std::size_t most_packed_bytes(std::size_t block_bytes) noexcept {
  return block_bytes > page_bytes ? block_bytes - page_bytes - sizeof(Head) - packed_checksum_bytes : 0;
}

bool is_possible(const Head& head, std::size_t stored_bytes, const BlockShape& shape) noexcept {
  if (head.stored_bytes != stored_bytes || stored_bytes < sizeof(Head) + packed_checksum_bytes ||
      stored_bytes > shape.block_bytes)
    return false;
  if (head.packed_bytes > stored_bytes - sizeof(Head) - packed_checksum_bytes) return false;
  const BlockContents& contents = head.contents;
  if (contents.used_bytes > shape.block_bytes - trailer_bytes || contents.carried_bytes > contents.used_bytes) return false;
  return head.width == 0 || (head.width == shape.record_size && contents.used_bytes % head.width == 0);
}

}  // namespace

std::uint64_t PackedBlockCoder::memory_bytes(const codec::BlockTerms& terms, const BlockShape& shape) noexcept {
  return planner::block_coder_bytes(terms, shape.block_bytes, shape.record_size > 0);
}

PackedBlockCoder::PackedBlockCoder(const codec::BlockTerms& terms, const BlockShape& shape, std::span<std::byte> memory)
    : shape_(shape),
      room_(memory.data()),
      columns_(shape.record_size > 0 ? memory.data() + shape.block_bytes : nullptr),
      coder_(terms, shape.block_bytes, memory.subspan((columns_ != nullptr ? 2 : 1) * shape.block_bytes)) {}

// Into the room, behind where the head will be.
std::optional<std::size_t> PackedBlockCoder::encode(const PackTerms& terms, const std::byte* block, BlockContents contents) {
  const std::size_t used = contents.used_bytes;
  if (terms.transposes) codec::transpose(block, used / shape_.record_size, shape_.record_size, columns_);
  return coder_.encode(terms.codec, {terms.transposes ? columns_ : block, used},
                       {room_ + sizeof(Head), most_packed_bytes(shape_.block_bytes)});
}

std::size_t PackedBlockCoder::try_out(const PackTerms& terms, const std::byte* block, BlockContents contents) {
  const auto packed = encode(terms, block, contents);
  return packed ? round_up(sizeof(Head) + *packed + packed_checksum_bytes, page_bytes) : shape_.block_bytes;
}

std::size_t PackedBlockCoder::sealed_bytes(const std::byte* packed) noexcept {
  Head head;
  std::memcpy(&head, packed, sizeof head);
  return sizeof head + head.packed_bytes + packed_checksum_bytes;
}

std::size_t PackedBlockCoder::pack(const PackTerms& terms, const std::byte* block, BlockContents contents, std::uint64_t seed,
                                   std::byte* to) {
  const auto packed = encode(terms, block, contents);
  if (!packed) return 0;
  const std::size_t end = sizeof(Head) + *packed, stored = round_up(end + packed_checksum_bytes, page_bytes);
  const Head head{.stored_bytes = static_cast<std::uint32_t>(stored),
                  .packed_bytes = static_cast<std::uint32_t>(*packed),
                  .contents = contents,
                  .codec = terms.codec.codec,
                  .width = terms.transposes ? shape_.record_size : 0};
  std::memcpy(to, &head, sizeof head);
  std::memcpy(to + sizeof head, room_ + sizeof head, *packed);
  std::memset(to + end, 0, stored - end);
  const std::uint64_t checksum = records::block_checksum(to, stored - packed_checksum_bytes, seed);
  std::memcpy(to + stored - packed_checksum_bytes, &checksum, sizeof checksum);
  return stored;
}

// Decodes into a room of its own, from where it goes to the block: the packed bytes may lie where the block will.
std::optional<BlockContents> PackedBlockCoder::unpack(const std::byte* packed, std::size_t stored_bytes, std::byte* block,
                                                      std::size_t block_bytes) {
  Head head;
  std::memcpy(&head, packed, sizeof head);
  if (!is_possible(head, stored_bytes, {std::min(block_bytes, shape_.block_bytes), shape_.record_size})) return std::nullopt;
  const std::size_t used = head.contents.used_bytes;
  const std::span<const std::byte> bytes{packed + sizeof head, head.packed_bytes};
  if (head.width > 0) {
    if (!coder_.decode(head.codec, bytes, {columns_, used})) return std::nullopt;
    codec::transpose(columns_, head.width, used / head.width, block);
    return head.contents;
  }
  std::memcpy(room_, bytes.data(), bytes.size());
  if (!coder_.decode(head.codec, {room_, bytes.size()}, {block, used})) return std::nullopt;
  return head.contents;
}

}  // namespace ecosort::run
