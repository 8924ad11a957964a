// Plans the memory of compressed runs, and the temporary space that is reserved for them.
#pragma once

#include <cstdint>
#include <optional>

#include "codec/block_codec.h"
#include "planner/profile.h"

namespace ecosort::planner {

inline constexpr std::uint64_t place_bytes = 4;  // in memory, of a block that is packed

// None where `coders` is 0.
struct PackingPlan {
  codec::RunCompression wanted;
  unsigned coders = 0;              // that work at a time
  std::uint64_t index_bytes = 0;    // most that the places of all blocks take; a run beyond that is stored as it is
  std::uint64_t coder_bytes = 0;    // of all coders, whatever the size of the blocks
  std::uint64_t assumed_ratio = 0;  // runs are reserved space for their bytes by this many thousandths; 0: for all of their bytes
  bool reserves_nothing = false;    // whether runs will fit is not for us to know (--compress-program)
  std::optional<PowerModel> power = {};  // `auto` chooses what takes the fewest joules; nothing: the least time

  [[nodiscard]] std::uint64_t bytes() const noexcept { return coders == 0 ? 0 : coder_bytes + index_bytes; }
  // Returns whether the places of so many blocks fit, or none are packed.
  [[nodiscard]] bool has_places(std::uint64_t blocks) const noexcept {
    return coders == 0 || blocks * place_bytes <= index_bytes;
  }
  // Returns what is reserved for runs that may take `bytes`, in whole pages.
  [[nodiscard]] std::uint64_t space_of(std::uint64_t bytes) const noexcept;
};

// By this many thousandths less, in whole pages; 0: as they are.
[[nodiscard]] std::uint64_t promised_space(std::uint64_t bytes, std::uint64_t assumed_ratio) noexcept;

// Describes runs with blocks of so many bytes.
struct PackingTerms {
  std::uint64_t memory_bytes = 0;  // of all
  unsigned threads = 1;
  std::uint64_t block_bytes = 0;
  bool of_records = false;   // of one size
  std::uint64_t blocks = 0;  // of all runs at a time, at most; 0: unknown
};

// Returns what a coder takes: room for a block that is packed, and for one whose records are transposed or whose rows are
// truncated.
[[nodiscard]] std::uint64_t block_coder_bytes(const codec::BlockTerms& terms, std::uint64_t block_bytes) noexcept;

// Plans as many coders as there are threads, or as fit in a quarter of the memory; of `auto` in a sixteenth, and none where
// blocks are so small that it would gain nothing. Nothing: not even one coder fits.
[[nodiscard]] std::optional<PackingPlan> plan_packing(const PackingTerms& terms, const codec::RunCompression& wanted);

// The memory of which coders and places of blocks leave so much, whatever the blocks are.
[[nodiscard]] std::uint64_t memory_besides_packing(std::uint64_t left_bytes) noexcept;

// The memory with which one coder would fit.
[[nodiscard]] std::uint64_t least_memory_for_packing(const PackingTerms& terms, const codec::RunCompression& wanted) noexcept;

}  // namespace ecosort::planner
