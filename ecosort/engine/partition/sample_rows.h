// A sample of rows of any length, as engine/partition/sample.h has it: places are drawn among the bytes, so that a sample
// represents the bytes of its range. Of each place the first row is taken that begins there or behind it.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "engine/partition/sample.h"
#include "formats/row_format.h"
#include "io/file.h"

namespace ecosort::engine::partition {

// Everything is checked and opened.
struct SampleRowsJob {
  const formats::RowFormat* format = nullptr;  // which has taken what the file begins with
  const io::File* file = nullptr;              // read through the page cache
  std::uint64_t begin = 0, end = 0;            // the range: a row begins at both, or the file ends
  std::uint64_t most_row_bytes = 0;
  SampleTerms terms;
};

// Reads the bytes that show where rows begin (engine/partition/row_borders.h), synchronously. UsageError for a row that cannot be
// one, NotEnoughMemory for one that is longer than most_row_bytes, IoError, Interrupted.
[[nodiscard]] Sample sample_rows(const SampleRowsJob& job, Progress& progress, const std::atomic<int>& interrupted);

// Why such a row cannot be one of a file, or nothing; whether it is one that is left out.
struct RowVerdict {
  std::optional<formats::RowFault> fault;
  bool is_blank = false;
};
[[nodiscard]] RowVerdict judge_row(const formats::RowFormat& format, Text row);

}  // namespace ecosort::engine::partition
