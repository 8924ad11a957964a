// Checks whether lines are in order already (-c, -C). Streams: memory for two lines and a block.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/rows/first_look.h"
#include "formats/row_format.h"

namespace ecosort::engine::rows {

struct Disorder {
  std::uint64_t line_number = 0;  // from 1, of the row that comes too late
  std::string line;               // the row
};

struct CheckedFile {
  std::string name;  // "-": standard input
  std::uint64_t memory_bytes;
  bool decompresses = false;  // what is compressed
};

// Reads the file up to the first line that must not follow the one before it; with `unique`, equal lines must not either.
// UsageError for a line longer than a quarter of the memory; IoError.
[[nodiscard]] std::optional<Disorder> find_disorder(const CheckedFile& file, formats::RowFormat& format, bool unique,
                                                    const FirstLook& look = {});

}  // namespace ecosort::engine::rows
