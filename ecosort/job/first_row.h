// Keeps what the inputs of a sort of rows begin with, for a job that outlives a crash: a resumption in the middle of them does
// not read it there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/rows/line_input.h"
#include "formats/row_format.h"

namespace ecosort::job {

struct InputHead {
  std::uint64_t mark_bytes = 0;    // at the beginning of the first input, of no row
  std::optional<std::string> row;  // the first row there is, without its end, where the format has to know it
};

// Finds the first row of regular files. Takes none of the format's rows. UsageError for a row that is too long, and as
// RowFormat::miss_first_row().
[[nodiscard]] InputHead find_first_row(const std::vector<engine::rows::LineInput>& inputs, formats::RowFormat& format);

// Checks that the first row suits, and that its columns are those of the keys; the format is of no further use. It looks at no
// inputs that have to be read in their order, or whose first row is that long.
void check_first_row(const std::vector<engine::rows::LineInput>& inputs, formats::RowFormat& format);

}  // namespace ecosort::job
