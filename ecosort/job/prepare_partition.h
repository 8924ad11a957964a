// A partition of a range of a file: everything is checked and opened, nothing is created (promise P9).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/partition/partition_records.h"
#include "job/prepare_records.h"
#include "job/splitter_files.h"

namespace ecosort::job {

// The rows of a file that begin in these bytes. Ranges that tile a file have each row once.
struct FileRange {
  std::uint64_t from = 0, to = UINT64_MAX;  // the last one, unless it is said: the end of the file
};

struct PartitionSpec {
  FileRange range;
  std::uint64_t source = 0;  // number of the file among those that are partitioned
  std::string splitters;     // a file
  std::string directory, prefix = "slice";
  std::string report;               // a file that the caller makes when the slices are there; may be empty
  std::vector<std::string> logs{};  // that the caller writes meanwhile; names may be empty, too
  bool is_sorted = false;           // each slice
  bool overwrites = false;
};

// Returns where the range ends in a file of so many bytes. UsageError for one that leaves it, or begins behind its end.
[[nodiscard]] std::uint64_t end_of_range(const FileRange& range, std::uint64_t bytes, const std::string& name);
// Chooses whole records. UsageError.
void choose_range(engine::fixed::Input& input, const FileRange& range, std::uint64_t record_size);

// Rows of records compare by the keys of the format. UsageError for a row of another size, with the file it is from.
[[nodiscard]] CompareRows compare_records(const records::RecordFormat& format);
void check_record_rows(const SplitterFile& file, std::uint64_t record_size, const std::string& path);

// Checks what a partition of any format was asked for, and makes its terms. UsageError.
[[nodiscard]] engine::partition::PartitionTerms terms_of(const PartitionSpec& spec, SplitterFile splitters,
                                                         const std::string& input);
// With spec.overwrites: removes what an earlier partition left under names of slices and this one, whose slices are there, did
// not replace.
void remove_replaced(const PartitionSpec& spec, const std::vector<std::string>& paths,
                     const std::vector<engine::partition::Slice>& slices, io::PosixStorage& storage);
// NotEnoughSpace for slices of so many bytes in all, in so many files.
void check_slice_space(const PartitionSpec& spec, std::uint64_t bytes, std::uint64_t files, io::Storage& storage);

// The range of the one input of `rows`. UsageError and its kinds for what cannot be.
[[nodiscard]] engine::partition::PartitionRecordsJob prepare_partition_of_records(const PartitionSpec& spec, const Request& rows,
                                                                                  io::PosixStorage& storage);

}  // namespace ecosort::job
