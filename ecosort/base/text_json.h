// A text of any bytes, such as the name of a file, as JSON: a string where it is UTF-8, else {"base64": "..."}.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace ecosort {

inline constexpr std::string_view in_base64 = "base64";

[[nodiscard]] Json text_json(const std::string& text);
// `place`: where the JSON is, for the message of a UsageError.
[[nodiscard]] std::string text_of(const Json& json, std::string_view place);

}  // namespace ecosort
