// The code pages of EBCDIC: where the characters of a text are in the order of Unicode.
#pragma once

#include <array>
#include <cstdint>

#include "ecosort/record_types.hpp"

namespace ecosort::records {

// The rank of each byte's character among all characters of its code page.
using CodePage = std::array<std::uint8_t, 256>;

// Returns the code page that a type of keys names, or null.
[[nodiscard]] const CodePage* code_page_of(RecordKeyType type) noexcept;

}  // namespace ecosort::records
