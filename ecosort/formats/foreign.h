// Names what an input is that holds no rows of text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ecosort::formats {

// By the first row that was found in it: "text in UTF-16; convert it first: ...". Nothing: it may be rows. `has_zeros`: zero
// bytes are no sign of UTF-16, because they delimit.
[[nodiscard]] std::optional<std::string> foreign_kind(std::string_view first_row, bool has_zeros = false);

}  // namespace ecosort::formats
