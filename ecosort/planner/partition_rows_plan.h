// Divides the memory of a partition of rows. A pure integer function; lengths of rows show later.
#pragma once

#include <cstdint>

#include "planner/line_plan.h"

namespace ecosort::planner {

struct PartitionRowsWanted {
  std::uint64_t memory_bytes = 0;
  unsigned threads = 1;
  std::uint64_t parts = 1;
  std::uint64_t range_bytes = 0;
  std::uint64_t top_bytes = 0;  // that each slice begins with
  bool is_sorted = false;       // each slice, run by run
};

struct PartitionRowsPlan {
  LinePlan lines;                       // of reading; the write blocks are those of the slices
  std::uint64_t slice_block_bytes = 0;  // of each
  std::uint64_t most_rows = 0;          // of a run
  std::uint64_t table_bytes = 0;        // of the splitters and of the slices' first and last rows, which may be so long in all
};

// NotEnoughMemory, with what would do, where even the smallest blocks do not fit.
[[nodiscard]] PartitionRowsPlan plan_partition_rows(const PartitionRowsWanted& wanted);

}  // namespace ecosort::planner
