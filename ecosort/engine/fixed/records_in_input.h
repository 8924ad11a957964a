// Says where records lie that came in order: a range of an input, which is a run that no one wrote.
//
//   file    ...| piece | piece | piece | ...     whole records; of each piece the checksum is kept from when it was read
//
// The bytes that are read again must be those that were read before: a merge does not bear records out of order, and a stored run
// has checksums, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "io/file.h"

namespace ecosort::engine::fixed {

struct RecordsInInput {
  const io::File* file = nullptr;             // stays open as long as the run is needed
  std::uint64_t begin = 0;                    // of the first record in the file
  std::uint32_t run_block_records = 0;        // take the place of a run block in memory, with what direct reads need around them
  std::uint64_t piece_records = 0;            // some times as many
  std::vector<std::uint64_t> checksums = {};  // of the pieces

  // Returns as many records as a run block of so many bytes has room for, and a unit of the file around them.
  [[nodiscard]] static std::uint32_t records_in(std::uint64_t run_block_bytes, std::size_t alignment, std::uint32_t record_size) {
    const std::uint64_t edges = alignment <= 1 ? 0 : 2 * alignment;
    return run_block_bytes <= edges ? 0 : static_cast<std::uint32_t>((run_block_bytes - edges) / record_size);
  }
};

}  // namespace ecosort::engine::fixed
