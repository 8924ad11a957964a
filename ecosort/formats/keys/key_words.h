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

// A value as a message shows it.
[[nodiscard]] std::string shown(std::string_view value);

// What is no value of this type is no ... ("number").
[[nodiscard]] std::string_view to_string(KeyType type) noexcept;

}  // namespace ecosort::keys
