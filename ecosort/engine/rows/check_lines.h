// Checks whether rows are in order already. Streams: memory for two rows and a block.
#pragma once

#include <cstdint>
#include <string>

#include "engine/order_check.h"
#include "engine/rows/first_look.h"
#include "formats/row_format.h"

namespace ecosort::engine::rows {

struct CheckedFile {
  std::string name;  // "-": standard input
  std::uint64_t memory_bytes;
  bool decompresses = false;  // what is compressed
};

// UsageError for a row longer than a quarter of the memory; IoError.
[[nodiscard]] OrderCheck check_order(const CheckedFile& file, formats::RowFormat& format, const CheckTerms& terms,
                                     const FirstLook& look = {});

}  // namespace ecosort::engine::rows
