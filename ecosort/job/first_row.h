// What the inputs of a sort of rows begin with that a job keeps which outlives a crash: whoever continues in the middle of them
// does not read it there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/rows/line_input.h"
#include "formats/row_format.h"

namespace ecosort::job {

struct FirstRow {
  std::uint64_t mark_bytes = 0;    // at the beginning of the first input, of no row
  std::optional<std::string> row;  // the first row there is, without its end, where the format has to know it
};

// Of regular files. Takes none of the format's rows. UsageError for a row that is too long, and as RowFormat::miss_first_row().
[[nodiscard]] FirstRow find_first_row(const std::vector<lines::LineInput>& inputs, rows::RowFormat& format);

// That the first row suits, and that its columns are those of the keys; the format is of no further use. Of inputs that have to
// be read in their order, or whose first row is that long, nothing is looked at.
void check_first_row(const std::vector<lines::LineInput>& inputs, rows::RowFormat& format);

}  // namespace ecosort::job
