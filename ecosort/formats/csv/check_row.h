// A row field by field, with all that can be wrong with it: for headers, long rows, and rows in which something is wrong.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "formats/csv/dialect.h"
#include "formats/row_format.h"

namespace ecosort::csv {

inline constexpr std::string_view is_header_again =
    "the row equals the header; name files that were joined as inputs of their own";

struct SplitRow {
  std::vector<Text> fields;  // as they are there; up to the fault
  std::optional<formats::RowFault> fault;
};

// A row without its newline; a carriage return at its end does not count. With `is_all` false it may continue behind `row`.
[[nodiscard]] SplitRow split_row(Text row, Dialect dialect, bool is_all = true);

// Why a row with so many fields has no place under `columns` columns, named by the header or found in the first row.
[[nodiscard]] formats::RowFault ragged_row(Text row, std::size_t fields, std::size_t columns, bool has_header);

}  // namespace ecosort::csv
