// Words and names of files as sort 9.1 shows them in its messages: whatever they contain, in one line. Letters beyond ASCII stay
// as they are where the environment asks for UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace ecosort::lines {

// In single quotes, with backslashes before what would mislead.
[[nodiscard]] std::string quoted_word(std::string_view word);

// Quotes a name as it could be given to a shell; without quotes where it needs none.
[[nodiscard]] std::string quoted_name(std::string_view name);

}  // namespace ecosort::lines
