// Keys of tables as they are written: NAME[:TYPE][:desc].
#pragma once

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

// Names the type of the key with its argument, as in "is no ..." ("number", "text@de").
[[nodiscard]] std::string type_word(const ValueKey& key);

}  // namespace ecosort::keys
