// A range of a file of lines, CSV or JSON lines, to be sampled or partitioned: everything is checked and opened, nothing is
// created.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/partition/partition_rows.h"
#include "engine/partition/sample_rows.h"
#include "formats/row_format.h"
#include "job/prepare_partition.h"
#include "job/prepare_sample.h"

namespace ecosort::job {

// By the format, which outlives it.
[[nodiscard]] CompareRows compare_rows(const formats::RowFormat& format);

// Says what the rows are, and with which means.
struct RowTerms {
  std::unique_ptr<formats::RowFormat> format;
  std::string input;
  std::uint64_t memory_bytes = 0;
  unsigned threads = 1;
};

// UsageError and its kinds for what cannot be.
[[nodiscard]] engine::partition::PartitionRowsJob prepare_partition_of_rows(const PartitionSpec& spec, RowTerms rows,
                                                                            io::PosixStorage& storage);

struct PreparedRowSample {
  std::unique_ptr<formats::RowFormat> format;
  io::FilePtr file;
  engine::partition::SampleRowsJob job;
  std::optional<std::string> header;  // of the file
};
[[nodiscard]] PreparedRowSample prepare_sample_of_rows(const SampleSpec& spec, RowTerms rows, io::PosixStorage& storage);

// All rows of these samples, in order.
[[nodiscard]] SplitterFile merge_samples_of_rows(formats::RowFormat& format, const std::vector<std::string>& paths);

}  // namespace ecosort::job
