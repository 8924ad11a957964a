// Divides the memory of a partition of records. A pure integer function of what is wanted.
//
//   run buffers | records + index | ... |   one is cut into slices while the next ones are read; where the slices are to be
//                                           sorted there is one that holds the whole range, or two as large as fit
//   write blocks                            one for every part, and those that are being written
#pragma once

#include <cstdint>

#include "planner/plan.h"

namespace ecosort::planner {

struct PartitionWanted {
  Wanted records;  // of the range; its size is known
  std::uint64_t parts = 1;
  bool is_sorted = false;  // the rows of each slice, run by run
};

struct PartitionPlan {
  RecordPlan plan;                // what it says of reading: wanted, formation, depths; the write blocks are those of the slices
  std::uint64_t runs = 0;         // all have formation.run_records but the last one
  std::uint64_t table_bytes = 0;  // of the splitters and of what is known of each slice
};

inline constexpr unsigned blocks_in_flight = 12;  // of slices
// Each row of a run has the number of its part, and each piece of a run says how many of its rows each part gets.
inline constexpr std::uint64_t part_number_bytes = 2, part_count_bytes = 4;

// Pieces of a run that a thread cuts into slices, one after the other.
inline constexpr unsigned pieces_per_thread = 4;
inline constexpr std::uint64_t least_slice_block_bytes = std::uint64_t{64} << 10U,
                               most_slice_block_bytes = std::uint64_t{1} << 20U;

// Returns the block for such a range; the memory may want smaller ones.
[[nodiscard]] std::uint64_t slice_block_for(std::uint64_t parts, std::uint64_t range_bytes, std::uint64_t least);

// NotEnoughMemory, with what would do, where even the smallest blocks do not fit.
[[nodiscard]] PartitionPlan plan_partition(const PartitionWanted& wanted);

}  // namespace ecosort::planner
