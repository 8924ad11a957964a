// Divides the memory of a merge of sorted files. A pure integer function of what is wanted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "planner/plan.h"

namespace ecosort::planner {

struct FilesWanted {
  std::uint32_t record_size = 0;
  std::vector<std::uint64_t> file_bytes;  // of records, of each file
  std::size_t most_between = SIZE_MAX;    // files that may be open between passes
  std::uint64_t memory_bytes = 0;
  unsigned threads = 1;
  std::uint64_t least_block_bytes = 0;     // of a block of a file
  std::uint64_t alignment = 1;             // of the least capable file; 1: read through the page cache
  std::uint64_t taken_bytes = 0;           // of the memory, by others
  codec::RunCompression compression = {};  // of what is written between passes, as the next two
  std::uint64_t assumed_ratio = 0;
  std::optional<PowerModel> power = {};
};

struct FilesPlan {
  std::uint64_t block_records = 0;      // of each of two blocks of every file that is merged
  std::uint64_t block_bytes = 0;        // memory of one; whole pages
  bool is_direct = false;               // blocks begin at whole pages of the files; else they are read through the page cache
  std::size_t fan_in = 0;               // files merged at a time
  std::size_t most_between = SIZE_MAX;  // files between passes, each of which is open
  MergeBuffers output;                  // its blocks
  unsigned read_depth = 0, write_depth = 0;
  // Between passes, where that is compressed: runs with such blocks. None: files of the records as they are.
  RunBlock run_block = {};
  PackingPlan packing = {};

  [[nodiscard]] bool packs() const noexcept { return packing.coders > 0; }
  // Temporary space of records that take so many bytes.
  [[nodiscard]] std::uint64_t temp_bytes_of(std::uint64_t bytes, std::uint32_t record_size) const noexcept;
};

// The merges before the last one: adjacent files become one, as few as need be, and the next group begins behind it.
struct FilePasses {
  std::uint64_t merges = 0;
  std::uint64_t moved_bytes = 0;                            // written by them, and read once more
  std::uint64_t largest_bytes = 0;                          // of one of them
  std::uint64_t peak_temp_bytes = 0, final_temp_bytes = 0;  // of what they write: at most, and when the last merge begins
};

// Says how many files are merged at a time, and how many there may be of those that were merged.
struct MergeWidth {
  std::size_t fan_in = 0, most_between = SIZE_MAX;
};

// Says which of `files` files are merged next, where the last group ended at `next`; there are more than `fan_in`. Those that
// were merged lie before `next`: where these are as many as may be, they are merged again.
struct FileGroup {
  std::size_t first = 0, count = 0;
};
[[nodiscard]] FileGroup next_group(std::size_t files, const MergeWidth& width, std::size_t next) noexcept;
// `temp_bytes_of`: what a file of so many bytes takes of temporary space; whole pages of them, if it is empty.
[[nodiscard]] FilePasses passes_of(const std::vector<std::uint64_t>& file_bytes, const MergeWidth& width,
                                   const std::function<std::uint64_t(std::uint64_t)>& temp_bytes_of = nullptr);

// NotEnoughMemory where two files cannot be merged, or what lies between passes cannot be compressed as it should.
[[nodiscard]] FilesPlan plan_files(const FilesWanted& wanted);

}  // namespace ecosort::planner
