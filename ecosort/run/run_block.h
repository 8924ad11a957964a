// The unit of a run on a drive: it is written, read, checked and given back in these. FORMAT.md has it byte for byte.
//
//   run block | records ............ | zeros | used | carried | checksum |
//                                              4      4         8 bytes
//
// Records of fixed size never pass over the border of a block. Rows of any length do: `carried` bytes at the begin of a block are
// the end of a row that began before it, so that a reader from the middle of a run knows where the first whole row begins.
// The checksum's seed is the identity of the block (its job, its run and its place): a flipped bit, a stale or a foreign block is
// noticed and never becomes output (promise P11).
#pragma once

#include <cstddef>
#include <cstdint>

#include "planner/plan.h"

namespace ecosort::run {

inline constexpr std::size_t trailer_bytes = planner::run_block_trailer_bytes;

// Says which end of its file a run begins at.
enum class Direction : std::uint8_t { forward, backward };

struct BlockContents {
  std::uint32_t used_bytes = 0;     // of records
  std::uint32_t carried_bytes = 0;  // at their begin, of one that began in a block before; all of them: no record begins here
};

// Returns where the seeds of a run's blocks begin; that of its block i is the i-th after it. `job` is random, so that the blocks
// of another sort are foreign.
[[nodiscard]] std::uint64_t run_seed(std::uint64_t job, std::uint64_t run) noexcept;
[[nodiscard]] std::uint64_t random_job();

// Fills the block behind its records with zeros and writes the trailer. Thread-safe for different blocks.
void seal_block(std::byte* block, std::size_t block_bytes, std::uint64_t seed, BlockContents contents) noexcept;

// Returns whether the block is what was sealed with this seed. Thread-safe.
[[nodiscard]] bool is_intact(const std::byte* block, std::size_t block_bytes, std::uint64_t seed) noexcept;

// Returns the contents of a block that is intact.
[[nodiscard]] BlockContents contents_of(const std::byte* block, std::size_t block_bytes) noexcept;

}  // namespace ecosort::run
