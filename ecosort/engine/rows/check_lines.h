// Whether lines are in order already (-c, -C). Streams: memory for two lines and a block.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/rows/first_look.h"
#include "formats/row_format.h"

namespace ecosort::lines {

struct Disorder {
  std::uint64_t line_number = 0;  // from 1, of the row that comes too late
  std::string line;               // the row
};

// Reads `name` ("-": standard input) up to the first line that must not follow the one before it; with `unique`, equal lines must
// not either. UsageError for a line longer than `memory_bytes` / 4; IoError.
[[nodiscard]] std::optional<Disorder> find_disorder(const std::string& name, rows::RowFormat& format, bool unique,
                                                    std::uint64_t memory_bytes, const FirstLook& look = {});

}  // namespace ecosort::lines
