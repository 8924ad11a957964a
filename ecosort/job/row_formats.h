// The format of the rows of a request: how they end, and how any two of them compare.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ecosort/request.hpp"
#include "formats/csv/dialect.h"
#include "formats/row_format.h"

namespace ecosort::job {

// The delimiter that was named, or that of the names of the inputs; a line "sep=;" of theirs may say another one.
[[nodiscard]] csv::Delimiter delimiter_of(const Csv& csv, const std::vector<std::string>& inputs);

// "shop.csv", "shop.tsv.gz".
[[nodiscard]] bool is_named_table(std::string_view name);

// UsageError for keys, dates and delimiters that cannot be, and for inputs that do not go together.
[[nodiscard]] std::unique_ptr<formats::RowFormat> row_format_of(const Request& request);

}  // namespace ecosort::job
