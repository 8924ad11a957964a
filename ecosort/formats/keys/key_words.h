// Keys of tables as they are written: NAME[:TYPE][:desc].
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ecosort::keys {

enum class KeyType : std::uint8_t { text, nocase, number, integer, date, version, length };

struct KeyWords {
  std::string name;  // of a column, its number from 1 on, or a path
  KeyType type = KeyType::text;
  bool descending = false;
};

// Words that are no type and no direction belong to the name. UsageError for a key without a name.
[[nodiscard]] KeyWords parse_key(std::string_view text);

// A name that may have been meant as NAME:TYPE: what is in front of its last colon. Empty where there is none.
[[nodiscard]] std::string_view name_before_type(std::string_view name) noexcept;
// What is told then: that the word behind the colon is no type, and which there are.
[[nodiscard]] std::string no_type_text(std::string_view name);

// A value as a message shows it.
[[nodiscard]] std::string shown(std::string_view value);

// What is no value of this type is no ... ("number").
[[nodiscard]] std::string_view to_string(KeyType type) noexcept;

}  // namespace ecosort::keys
