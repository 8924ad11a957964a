// The functions that make values of a request from the words of options (ValueOf). The tables of options name them.
//
// All throw UsageError, with the name of the option, for a word that means nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "cli/option_table.h"

namespace ecosort::cli {

// A number in decimal digits, behind the option of this name.
[[nodiscard]] std::uint64_t whole_number(std::string_view option, const std::string& text);

// Returns whether a process finds its own standard output under this name. A file cannot take its place.
[[nodiscard]] bool is_standard_output(const std::string& path);

// ---- Options without a word.

template <bool value>
Json flag(const GivenOption& /*given*/, const Json* /*before*/) {
  return value;
}

template <std::size_t size>
struct Word {
  char letters[size]{};
  consteval Word(const char (&text)[size]) { std::copy_n(text, size, letters); }  // NOLINT(google-explicit-constructor)
};
template <Word text>
Json word(const GivenOption& /*given*/, const Json* /*before*/) {
  return std::string_view(text.letters, sizeof text.letters - 1);
}

// One more letter of an ordering.
[[nodiscard]] Json with_letter(const Json* before, char letter);
template <char one>
Json letter(const GivenOption& /*given*/, const Json* before) {
  return with_letter(before, one);
}

// ---- Words.

using Value = Json(const GivenOption& given, const Json* before);

// Words of every command.
Value as_text, as_bytes, as_memory, as_threads, as_number, as_group_keys, as_output, as_choice, as_reread, as_runs, as_ratio,
    as_decompress, as_level;
// Options that say what the rows are: an empty object, or what is there.
Value as_rows;
// Options of records.
Value as_record_size, as_request_size, as_request_depth, as_run_records, as_hash;
// Options of CSV and JSON lines.
Value as_delimiter, as_byte, as_quote, as_nulls_first, as_bad_rows, as_beginning, as_count;
// Options of rows of several lines.
Value as_record_lines;
// Options of lines, with the messages of GNU sort.
Value as_line_key, as_separator, as_lines_output, as_wished_memory, as_parallel, as_batch_size, as_header_lines, as_locale,
    as_sort_word, as_file_name, as_random_source, as_compress_program;

}  // namespace ecosort::cli
