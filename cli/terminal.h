// Finds how wide the terminal is, for what is laid out for people.
#pragma once

#include <cstddef>

namespace ecosort::cli {

// Columns of the terminal that `descriptor` is: asked anew at each call, because a window changes. Where it is none, or does not
// say, those of $COLUMNS, and else 80.
[[nodiscard]] std::size_t terminal_columns(int descriptor);

// Takes $COLUMNS first: a user who sets it wants it. At least 20.
[[nodiscard]] std::size_t text_columns(int descriptor);

}  // namespace ecosort::cli
