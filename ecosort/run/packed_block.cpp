#include "run/packed_block.h"

#include <algorithm>
#include <cstring>

#include "base/memory.h"
#include "codec/transpose.h"
#include "codec/truncate.h"
#include "hash/block_checksum.h"
#include "planner/packing_plan.h"

namespace ecosort::run {
namespace {

// Says whether rows are truncated, and the last one of them has its end.
enum class Truncation : std::uint8_t { none, last_is_whole, last_goes_on };

// The first bytes of a packed block, in the byte order of the machine that wrote it.
struct Head {
  std::uint32_t stored_bytes = 0, packed_bytes = 0;
  BlockContents contents;
  codec::BlockCodec codec = codec::BlockCodec::none;
  Truncation rows = Truncation::none;
  char terminator = '\0';
  std::uint8_t zero = 0;
  std::uint32_t width = 0;  // of records that are transposed; bytes of rows that are truncated; 0: neither
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
  if (head.rows > Truncation::last_goes_on) return false;
  if (head.rows != Truncation::none) {
    const bool is_compressed = head.codec != codec::BlockCodec::prefix;
    return shape.record_size == 0 && head.width <= shape.block_bytes && (is_compressed || head.width == head.packed_bytes);
  }
  return head.width == 0 || (head.width == shape.record_size && contents.used_bytes % head.width == 0);
}

std::optional<Head> head_of(const std::byte* packed, std::size_t stored_bytes, const BlockShape& shape) noexcept {
  Head head;
  std::memcpy(&head, packed, sizeof head);
  return is_possible(head, stored_bytes, shape) ? std::optional(head) : std::nullopt;
}

bool restore_rows(const Head& head, std::span<const std::byte> truncated, std::byte* block) {
  return codec::restore(truncated, head.rows == Truncation::last_is_whole, head.terminator, head.contents.carried_bytes,
                        {block, head.contents.used_bytes});
}

TruncatedBlock truncated_block(const Head& head, const std::byte* rows) noexcept {
  return {head.contents, {rows, head.width}, head.rows == Truncation::last_is_whole, head.terminator};
}

}  // namespace

// Holds what became of a block, in one of the coder's rooms.
struct PackedBlockCoder::Encoded {
  std::span<const std::byte> bytes;
  codec::BlockCodec codec = codec::BlockCodec::none;
  Truncation rows = Truncation::none;
  std::uint32_t width = 0;

  [[nodiscard]] std::size_t stored_bytes() const noexcept {
    return round_up(sizeof(Head) + bytes.size() + packed_checksum_bytes, page_bytes);
  }
};

std::optional<TruncatedBlock> truncated_rows(const std::byte* packed, std::size_t stored_bytes,
                                             std::size_t block_bytes) noexcept {
  const std::optional<Head> head = head_of(packed, stored_bytes, {block_bytes});
  if (!head || head->rows == Truncation::none || head->codec != codec::BlockCodec::prefix) return std::nullopt;
  return truncated_block(*head, packed + sizeof(Head));
}

std::uint64_t PackedBlockCoder::memory_bytes(const codec::BlockTerms& terms, const BlockShape& shape) noexcept {
  return planner::block_coder_bytes(terms, shape.block_bytes);
}

PackedBlockCoder::PackedBlockCoder(const codec::BlockTerms& terms, const BlockShape& shape, std::span<std::byte> memory)
    : shape_(shape),
      room_(memory.data()),
      staged_(memory.data() + shape.block_bytes),
      coder_(terms, shape.block_bytes, memory.subspan(2 * shape.block_bytes)) {}

// Into the room.
std::optional<PackedBlockCoder::Encoded> PackedBlockCoder::compress(const PackTerms& terms, std::span<const std::byte> bytes) {
  const auto packed = coder_.encode(terms.codec, bytes, {room_, most_packed_bytes(shape_.block_bytes)});
  if (!packed) return std::nullopt;
  return Encoded{.bytes = {room_, *packed}, .codec = terms.codec.codec};
}

std::optional<PackedBlockCoder::Encoded> PackedBlockCoder::truncate(const PackTerms& terms, const std::byte* block,
                                                                    BlockContents contents) {
  const std::optional<codec::TruncatedRows> rows =
      codec::truncate({{block, contents.used_bytes}, contents.carried_bytes, shape_.terminator},
                      {staged_, most_packed_bytes(shape_.block_bytes)});
  const bool is_compressed = terms.codec.codec != codec::BlockCodec::prefix;
  if (!rows) return is_compressed ? compress(terms, {block, contents.used_bytes}) : std::nullopt;
  Encoded encoded{.bytes = {staged_, rows->bytes}, .codec = codec::BlockCodec::prefix};
  if (is_compressed) encoded = compress(terms, encoded.bytes).value_or(encoded);
  encoded.rows = rows->is_last_whole ? Truncation::last_is_whole : Truncation::last_goes_on;
  encoded.width = static_cast<std::uint32_t>(rows->bytes);
  return encoded;
}

std::optional<PackedBlockCoder::Encoded> PackedBlockCoder::encode(const PackTerms& terms, const std::byte* block,
                                                                  BlockContents contents) {
  if (terms.truncates) return truncate(terms, block, contents);
  const std::size_t used = contents.used_bytes;
  if (!terms.transposes) return compress(terms, {block, used});
  codec::transpose(block, used / shape_.record_size, shape_.record_size, staged_);
  std::optional<Encoded> encoded = compress(terms, {staged_, used});
  if (encoded) encoded->width = shape_.record_size;
  return encoded;
}

std::size_t PackedBlockCoder::try_out(const PackTerms& terms, const std::byte* block, BlockContents contents) {
  const auto encoded = encode(terms, block, contents);
  return encoded ? encoded->stored_bytes() : shape_.block_bytes;
}

std::size_t PackedBlockCoder::sealed_bytes(const std::byte* packed) noexcept {
  Head head;
  std::memcpy(&head, packed, sizeof head);
  return sizeof head + head.packed_bytes + packed_checksum_bytes;
}

std::size_t PackedBlockCoder::pack(const PackTerms& terms, const std::byte* block, BlockContents contents, std::uint64_t seed,
                                   std::byte* to) {
  const auto encoded = encode(terms, block, contents);
  if (!encoded) return 0;
  const std::size_t size = encoded->bytes.size(), end = sizeof(Head) + size, stored = encoded->stored_bytes();
  const Head head{.stored_bytes = static_cast<std::uint32_t>(stored),
                  .packed_bytes = static_cast<std::uint32_t>(size),
                  .contents = contents,
                  .codec = encoded->codec,
                  .rows = encoded->rows,
                  .terminator = encoded->rows == Truncation::none ? '\0' : shape_.terminator,
                  .width = encoded->width};
  std::memcpy(to, &head, sizeof head);
  std::memcpy(to + sizeof head, encoded->bytes.data(), size);
  std::memset(to + end, 0, stored - end);
  const std::uint64_t checksum = hash::block_checksum(to, stored - packed_checksum_bytes, seed);
  std::memcpy(to + stored - packed_checksum_bytes, &checksum, sizeof checksum);
  return stored;
}

// Decodes into a room of its own, from where it goes to the block: the packed bytes may lie where the block will.
std::optional<BlockContents> PackedBlockCoder::unpack(const std::byte* packed, std::size_t stored_bytes, std::byte* block,
                                                      std::size_t block_bytes) {
  const std::optional<Head> head = head_of(packed, stored_bytes, {std::min(block_bytes, shape_.block_bytes), shape_.record_size});
  if (!head) return std::nullopt;
  const std::size_t used = head->contents.used_bytes;
  const std::span<const std::byte> bytes{room_, head->packed_bytes};
  std::memcpy(room_, packed + sizeof(Head), bytes.size());
  bool is_whole = false;
  if (head->rows != Truncation::none) {
    const std::span<std::byte> staged{staged_, head->width};
    const bool is_compressed = head->codec != codec::BlockCodec::prefix;
    is_whole = is_compressed ? coder_.decode(head->codec, bytes, staged) && restore_rows(*head, staged, block)
                             : restore_rows(*head, bytes, block);
  } else if (head->width > 0) {
    is_whole = coder_.decode(head->codec, bytes, {staged_, used});
    if (is_whole) codec::transpose(staged_, head->width, used / head->width, block);
  } else {
    is_whole = coder_.decode(head->codec, bytes, {block, used});
  }
  return is_whole ? std::optional(head->contents) : std::nullopt;
}

std::optional<TruncatedBlock> PackedBlockCoder::unpack_truncated(const std::byte* packed, std::size_t stored_bytes,
                                                                 std::byte* block) {
  const std::optional<Head> head = head_of(packed, stored_bytes, shape_);
  if (!head || head->rows == Truncation::none || head->codec == codec::BlockCodec::prefix) return std::nullopt;
  const std::span<const std::byte> bytes{room_, head->packed_bytes};
  std::memcpy(room_, packed + sizeof(Head), bytes.size());
  if (!coder_.decode(head->codec, bytes, {block, head->width})) return std::nullopt;
  return truncated_block(*head, block);
}

}  // namespace ecosort::run
