// A dialect says how values are written in a row of CSV (RFC 4180).
#pragma once

#include <optional>
#include <string_view>

namespace ecosort::csv {

struct Dialect {
  char delimiter = ',';
  std::optional<char> quote = '"';  // none: quotes mean nothing
};

// The delimiter that a line "sep=;" names, with which spreadsheets let a file begin; nothing for another line.
[[nodiscard]] std::optional<char> named_delimiter(std::string_view line, Dialect dialect) noexcept;

}  // namespace ecosort::csv
