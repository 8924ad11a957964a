// A sort of CSV: everything resolved and checked, inputs open, nothing created.
#pragma once

#include <memory>

#include "ecosort/ecosort.hpp"
#include "formats/csv/csv_format.h"
#include "job/prepare_lines.h"

namespace ecosort::job {

// UsageError for keys, dates and delimiters that cannot be, and for inputs that do not go together.
[[nodiscard]] std::unique_ptr<csv::CsvFormat> csv_format_of(const SortSpec& spec);
[[nodiscard]] PreparedLines prepare_csv(const SortSpec& spec, io::Storage& storage, SpecialOutput special);

}  // namespace ecosort::job
