// The plan of a partition of a range that is not there: a cluster asks before it cuts its inputs.
#pragma once

#include <cstdint>

#include "ecosort/request.hpp"

namespace ecosort::job {

struct PartitionSize {
  std::uint64_t range_bytes = 0, parts = 1;
  bool is_sorted = false;  // each slice
};

struct PartitionForecast {
  std::uint64_t memory_bytes = 0, least_memory_bytes = 0;  // that it gets, and that it needs
  std::uint64_t block_bytes = 0;                           // of each slice
  std::uint64_t run_bytes = 0;                             // that are cut, or sorted, at a time
  std::uint64_t runs = 1;                                  // files of each slice
  unsigned threads = 0;
};

// Rows of no fixed size count as 100 bytes. Throws NotEnoughMemory, with what would do, and UsageError for parts that cannot be.
[[nodiscard]] PartitionForecast plan_partition(const Request& rows, const PartitionSize& size);

}  // namespace ecosort::job
