// Reads lines of JSON (RFC 8259): whether one is a valid value, and where the values of keys are in it.
#pragma once

#include <optional>
#include <vector>

#include "base/text.h"
#include "formats/jsonl/path.h"
#include "formats/row_format.h"

namespace ecosort::jsonl {

inline constexpr unsigned most_depth = 1024;  // of objects and arrays within each other
inline constexpr std::size_t most_paths = 32;

// Nothing but white space.
[[nodiscard]] bool is_blank(Text row) noexcept;

// Reads all of a line, which is no blank one, and finds the values of the paths, at most most_paths: each as it is there, a
// string with its quotes; none (data() is null) where the path leads nowhere, and no bytes where it leads to null. Of members
// with the same name the first one counts. Returns what is wrong with the line, if anything is; then `values` mean nothing.
[[nodiscard]] std::optional<formats::RowFault> read_row(Text row, const std::vector<Path>& paths, Text* values);

// Returns the value of one path in a line that read_row() has nothing against; reads no further than to the value.
[[nodiscard]] Text find_value(Text row, const Path& path);

}  // namespace ecosort::jsonl
