// Text for people in so many columns: paragraphs, words beside their explanations, examples.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ecosort::cli {

// Words and what they mean.
using TextRows = std::vector<std::pair<std::string, std::string>>;

// Help is laid out for so many columns: those of standard output ($COLUMNS if it is set, 80 where no one knows), but no more than
// are easy to read.
[[nodiscard]] std::size_t help_columns();

// Breaks `text` where words end, so that no line is longer than `columns`, unless a word is. The first line begins at column
// `at`, those that follow are indented by `indent`. Lines of the text stay lines: one of the form "  WORD   TEXT" continues below
// TEXT.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t at, std::size_t indent, std::size_t columns);

// Short words and their texts side by side; where a word is long, every text gets lines of its own.
[[nodiscard]] std::string rows_text(const TextRows& rows, std::size_t columns);

// "COMMAND     what it does": the two on one line where that fits.
[[nodiscard]] std::string examples_text(const std::vector<std::string>& examples, std::size_t columns);

// The two parts of an example; the second may be empty.
[[nodiscard]] std::pair<std::string_view, std::string_view> parts_of_example(std::string_view example);

}  // namespace ecosort::cli
