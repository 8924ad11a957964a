// Bytes as text that any JSON reader takes: base64 of RFC 4648, with its padding.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ecosort {

[[nodiscard]] std::string to_base64(std::string_view bytes);

// Nothing for a text that to_base64() does not write.
[[nodiscard]] std::optional<std::string> from_base64(std::string_view text);

}  // namespace ecosort
