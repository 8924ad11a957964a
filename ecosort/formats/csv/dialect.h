// How values stand in a row of CSV (RFC 4180).
#pragma once

#include <optional>

namespace ecosort::csv {

struct Dialect {
  char delimiter = ',';
  std::optional<char> quote = '"';  // none: quotes mean nothing
};

}  // namespace ecosort::csv
