// Reads lines of JSON (RFC 8259): whether one is a valid value, and where the values of keys are in it.
#pragma once

#include <cstddef>
#include <cstdint>
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

// Names that an object has twice, on the way to values.
struct Repeated {
  std::uint64_t paths = 0;  // a bit for each path that leads through one
  std::size_t at = 0;       // where the first of them is
};

// Reads all of a line, which is no blank one, and finds the values of the paths, at most most_paths: each as it is there, a
// string with its quotes; none (data() is null) where the path leads nowhere, and no bytes where it leads to null. Of members
// with the same name the last one counts, as to all readers of JSON. Returns what is wrong with the line, if anything is; then
// `values` mean nothing.
[[nodiscard]] std::optional<formats::RowFault> read_row(Text row, const std::vector<Path>& paths, Text* values,
                                                        Repeated& repeated);

// Returns the value of one path in a line that read_row() has nothing against. Reads no further than to the value, unless names
// may repeat.
[[nodiscard]] Text find_value(Text row, const Path& path, bool may_repeat);

}  // namespace ecosort::jsonl
