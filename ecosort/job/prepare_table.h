// A sort of CSV or of JSON lines: everything resolved and checked, inputs open, nothing created.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "ecosort/ecosort.hpp"
#include "formats/row_format.h"
#include "job/prepare_lines.h"

namespace ecosort::job {

// UsageError for keys, dates and delimiters that cannot be, and for inputs that do not go together.
[[nodiscard]] std::unique_ptr<rows::RowFormat> table_format_of(const SortSpec& spec);
[[nodiscard]] PreparedLines prepare_table(const SortSpec& spec, io::Storage& storage, SpecialOutput special);

// The same without looking at the space: for a plan. With `assumed_bytes`, of rows that are not there.
[[nodiscard]] lines::LinesJob make_table_job(const SortSpec& spec, io::Storage& storage, SpecialOutput special,
                                             std::uint64_t assumed_bytes = 0);

// The memory that a sort of such rows may take.
[[nodiscard]] std::uint64_t table_memory_of(const SortSpec& spec);

// The first row of the only input that is out of order. UsageError, IoError.
[[nodiscard]] std::optional<lines::Disorder> find_table_disorder(const SortSpec& spec);

}  // namespace ecosort::job
