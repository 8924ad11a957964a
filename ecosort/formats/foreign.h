// Names what an input is that holds no rows of text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ecosort::formats {

// By the first row that was found in it: "text in UTF-16; convert it first: ...". Nothing: it may be rows.
[[nodiscard]] std::optional<std::string> foreign_kind(std::string_view first_row);

}  // namespace ecosort::formats
