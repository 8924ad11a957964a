// Cuts a range of rows of any length into slices, as engine/partition/partition_records.h does with records.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/bench.h"
#include "engine/partition/partition.h"
#include "engine/rows/line_input.h"
#include "formats/row_format.h"
#include "planner/partition_rows_plan.h"

namespace ecosort::engine::partition {

// Everything is checked and opened; nothing is created yet.
struct PartitionRowsJob {
  planner::PartitionRowsPlan plan;
  std::unique_ptr<formats::RowFormat> format;  // which has taken what the file begins with
  std::vector<rows::LineInput> inputs;         // one; its range ends where a row does
  std::uint64_t begin = 0;                     // where a row begins, and the range
  char before_end = 0;                         // the last byte of the row before; 0: there is none
  PartitionTerms terms;
  std::string top;        // what each slice begins with
  std::string first_row;  // of the file, if the format wants it
};

// Does as partition_records(); NotEnoughMemory, too: for a row that is longer than the memory has room for. UsageError for a row
// that cannot be one, and where sorted files are more than may be open.
[[nodiscard]] PartitionReport partition_rows(PartitionRowsJob& job, const Environment& environment);

}  // namespace ecosort::engine::partition
