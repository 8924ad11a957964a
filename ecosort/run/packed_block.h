// A run block that is compressed: what it is on the drive, and the way there and back. FORMAT.md has it byte for byte.
//
//   packed block | stored | packed | used | carried | codec | rows | end | zero | width | packed bytes ... | zeros | checksum |
//                    4        4       4       4        1       1      1     1      4                          8 bytes
//
// It takes whole pages, fewer than a run block. The checksum is over what is on the drive, with the seed of the run block
// (run_block.h): damage is found before anything is decoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "run/pack_terms.h"
#include "run/run_block.h"

namespace ecosort::run {

// Says what blocks hold.
struct BlockShape {
  std::size_t block_bytes = 0;
  std::uint32_t record_size = 0;  // of records, which may be transposed; 0: rows of any length, which may be truncated
  char terminator = '\n';         // of rows
};

// The rows of a packed block that are truncated (codec/truncate.h).
struct TruncatedBlock {
  BlockContents contents;
  std::span<const std::byte> rows;
  bool is_last_whole = true;
  char terminator = '\n';
};
// Finds them where no codec has packed them as well. Nothing: the block is another one. They lie within the bytes that the block
// takes on the drive.
[[nodiscard]] std::optional<TruncatedBlock> truncated_rows(const std::byte* packed, std::size_t stored_bytes,
                                                           std::size_t block_bytes) noexcept;

// A coder of blocks with room for one block, and for one whose records are transposed or whose rows are truncated. One thread at
// a time.
class PackedBlockCoder {
 public:
  [[nodiscard]] static std::uint64_t memory_bytes(const codec::BlockTerms& terms, const BlockShape& shape) noexcept;
  // `memory`: memory_bytes(), aligned to pages.
  PackedBlockCoder(const codec::BlockTerms& terms, const BlockShape& shape, std::span<std::byte> memory);

  // The records of a block, packed and sealed at `to`, in so many bytes: whole pages. `to` may be where the block is, or before
  // it. 0: they would not take less than the block; nothing was written then. Rows are only truncated where a codec makes that no
  // smaller, and only compressed where truncation makes them larger.
  [[nodiscard]] std::size_t pack(const PackTerms& terms, const std::byte* block, BlockContents contents, std::uint64_t seed,
                                 std::byte* to);

  // Returns what a packed block takes of these, before it is made whole pages.
  [[nodiscard]] static std::size_t sealed_bytes(const std::byte* packed) noexcept;

  // Returns how many bytes they would take.
  [[nodiscard]] std::size_t try_out(const PackTerms& terms, const std::byte* block, BlockContents contents);

  // The records of a packed block that is intact in `stored_bytes` go to `block`, which may be where it is, or overlap it.
  // Nothing: it is none that pack() made. Within the block, which has `block_bytes`, whatever its bytes are.
  [[nodiscard]] std::optional<BlockContents> unpack(const std::byte* packed, std::size_t stored_bytes, std::byte* block,
                                                    std::size_t block_bytes);
  [[nodiscard]] std::optional<BlockContents> unpack(const std::byte* packed, std::size_t stored_bytes, std::byte* block) {
    return unpack(packed, stored_bytes, block, shape_.block_bytes);
  }
  // Unpacks a block whose rows are truncated, which they stay, at `block`. Nothing: they are not, or it is none that pack() made;
  // nothing was written then, or the block is damaged.
  [[nodiscard]] std::optional<TruncatedBlock> unpack_truncated(const std::byte* packed, std::size_t stored_bytes,
                                                               std::byte* block);

 private:
  struct Encoded;
  [[nodiscard]] std::optional<Encoded> encode(const PackTerms& terms, const std::byte* block, BlockContents contents);
  [[nodiscard]] std::optional<Encoded> compress(const PackTerms& terms, std::span<const std::byte> bytes);
  [[nodiscard]] std::optional<Encoded> truncate(const PackTerms& terms, const std::byte* block, BlockContents contents);

  BlockShape shape_;
  std::byte* room_;    // of a block
  std::byte* staged_;  // of another one, transposed or truncated
  codec::BlockCoder coder_;
};

}  // namespace ecosort::run
