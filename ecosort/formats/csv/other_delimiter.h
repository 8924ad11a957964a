// Guesses which delimiter was meant, for a message alone: no file is ever read by a guess.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "base/text.h"
#include "formats/csv/dialect.h"

namespace ecosort::csv {

// Says whether a row in that dialect is what it should be.
using Fits = std::function<bool(const std::vector<Text>& fields, Dialect dialect)>;

// Returns the first of the usual delimiters, other than that of the dialect, under which the row has several fields that `fits`
// says yes to.
[[nodiscard]] std::optional<Delimiter> other_delimiter(Text row, Dialect dialect, const Fits& fits);

}  // namespace ecosort::csv
