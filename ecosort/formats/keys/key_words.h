// Keys of tables as they are written: NAME[:TYPE][:desc].
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ecosort/request.hpp"

namespace ecosort::keys {

// A name that may have been meant as NAME:TYPE: what is in front of its last colon. Empty where there is none.
[[nodiscard]] std::string_view name_before_type(std::string_view name) noexcept;
// Says that the word behind the colon is no type, and which there are.
[[nodiscard]] std::string no_type_text(std::string_view name);

// A value as a message shows it.
[[nodiscard]] std::string shown(std::string_view value);

// Names the type for "is no ..." ("number").
[[nodiscard]] std::string_view to_string(ValueType type) noexcept;

}  // namespace ecosort::keys
