// A run block that is compressed: what it is on the drive, and the way there and back. FORMAT.md has it byte for byte.
//
//   packed block | stored | packed | used | carried | codec | zeros | packed bytes ... | zeros | checksum |
//                    4        4       4       4        1       7                                  8 bytes
//
// It takes whole pages, fewer than a run block. The checksum is over what is on the drive, with the seed of the run block
// (run_block.h): damage is found before anything is decoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "codec/block_codec.h"
#include "run/run_block.h"

namespace ecosort::run {

// A coder of blocks with room for one block. One thread at a time.
class PackedBlockCoder {
 public:
  [[nodiscard]] static std::uint64_t memory_bytes(const codec::BlockTerms& terms, std::size_t block_bytes) noexcept;
  // `memory`: memory_bytes(), aligned to pages.
  PackedBlockCoder(const codec::BlockTerms& terms, std::size_t block_bytes, std::span<std::byte> memory);

  // The records of a block take its place packed and sealed, in so many bytes: whole pages. 0: they would not take less than the
  // block, which is as it was.
  [[nodiscard]] std::size_t pack(const codec::BlockTerms& terms, std::byte* block, std::uint64_t seed, BlockContents contents);

  // How many bytes they would take; what is in the block stays as it is.
  [[nodiscard]] std::size_t try_out(const codec::BlockTerms& terms, const std::byte* block, BlockContents contents);

  // The records of a block that is intact in `stored_bytes` take its place. Nothing: it is none that pack() made. Within the
  // block whatever its bytes are.
  [[nodiscard]] std::optional<BlockContents> unpack(std::byte* block, std::size_t stored_bytes);

 private:
  std::size_t block_bytes_;
  std::byte* room_;  // of a block
  codec::BlockCoder coder_;
};

}  // namespace ecosort::run
