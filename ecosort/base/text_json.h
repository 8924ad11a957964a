// A text of any bytes, such as the name of a file, as JSON: a string where it is UTF-8, else {"base64": "..."}.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace ecosort {

inline constexpr std::string_view in_base64 = "base64";

[[nodiscard]] Json text_json(const std::string& text);
// Returns the value with text_json() in place of each of its texts.
[[nodiscard]] Json with_coded_texts(const Json& value);
// `place`: where the JSON is, for the message of a UsageError.
[[nodiscard]] std::string text_of(const Json& json, std::string_view place);

}  // namespace ecosort
