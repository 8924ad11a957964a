// Cuts a range of rows of any length into slices, as engine/partition/partition_records.h does with records.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/partition/partition.h"
#include "engine/phase_log.h"
#include "engine/progress.h"
#include "engine/rows/line_input.h"
#include "formats/row_format.h"
#include "io/queue.h"
#include "io/storage.h"
#include "plan/partition_rows_plan.h"

namespace ecosort::engine {

// Everything is checked and opened; nothing is created yet.
struct PartitionRowsJob {
  planner::PartitionRowsPlan plan;
  std::unique_ptr<rows::RowFormat> format;  // which has taken what the file begins with
  std::vector<lines::LineInput> inputs;     // one; its range ends where a row does
  std::uint64_t begin = 0;                  // where a row begins, and the range
  PartitionTerms terms;
  std::string top;  // what each slice begins with
};

// As partition_records(); NotEnoughMemory, too: for a row that is longer than the memory has room for, or with `is_sorted` for
// rows that do not fit all at once. UsageError for a row that cannot be one.
[[nodiscard]] PartitionReport partition_rows(PartitionRowsJob& job, io::Storage& storage, io::Queue& queue, Progress& progress,
                                             PhaseLog& log, const std::atomic<int>& interrupted);

}  // namespace ecosort::engine
