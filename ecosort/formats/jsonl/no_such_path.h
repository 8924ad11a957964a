// Says what may have been meant by a path that leads nowhere in all rows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "formats/jsonl/path.h"

namespace ecosort::jsonl {

// One of the rows, or its beginning, or nothing; and how many there are.
struct RowSample {
  std::string_view row;
  std::uint64_t rows = 0;
};

[[nodiscard]] std::string no_such_path(const Path& path, const RowSample& sample);

}  // namespace ecosort::jsonl
