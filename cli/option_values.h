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

// Whether a process finds its own standard output under this name. A file cannot take its place.
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

// ---- Words of every command.

[[nodiscard]] Json as_text(const GivenOption& given, const Json* before);
[[nodiscard]] Json as_bytes(const GivenOption& given, const Json* before);
[[nodiscard]] Json as_memory(const GivenOption& given, const Json* before);
[[nodiscard]] Json as_threads(const GivenOption& given, const Json* before);
[[nodiscard]] Json as_output(const GivenOption& given, const Json* before);
[[nodiscard]] Json as_choice(const GivenOption& given, const Json* before);
[[nodiscard]] Json as_reread(const GivenOption& given, const Json* before);
[[nodiscard]] Json as_runs(const GivenOption& given, const Json* before);
[[nodiscard]] Json as_ratio(const GivenOption& given, const Json* before);
[[nodiscard]] Json as_decompress(const GivenOption& given, const Json* before);
[[nodiscard]] Json as_level(const GivenOption& given, const Json* before);

// ---- Of records.

[[nodiscard]] Json as_record_size(const GivenOption& given, const Json* before);
[[nodiscard]] Json as_request_size(const GivenOption& given, const Json* before);
[[nodiscard]] Json as_request_depth(const GivenOption& given, const Json* before);
[[nodiscard]] Json as_run_records(const GivenOption& given, const Json* before);
[[nodiscard]] Json as_hash(const GivenOption& given, const Json* before);

// ---- Of CSV and JSON lines.

[[nodiscard]] Json as_delimiter(const GivenOption& given, const Json* before);
[[nodiscard]] Json as_quote(const GivenOption& given, const Json* before);
[[nodiscard]] Json as_nulls_first(const GivenOption& given, const Json* before);

// ---- Of lines, with the messages of GNU sort.

[[nodiscard]] Json as_line_key(const GivenOption& given, const Json* before);
[[nodiscard]] Json as_separator(const GivenOption& given, const Json* before);
[[nodiscard]] Json as_lines_output(const GivenOption& given, const Json* before);
[[nodiscard]] Json as_wished_memory(const GivenOption& given, const Json* before);
[[nodiscard]] Json as_parallel(const GivenOption& given, const Json* before);
[[nodiscard]] Json as_batch_size(const GivenOption& given, const Json* before);
[[nodiscard]] Json as_header_lines(const GivenOption& given, const Json* before);
[[nodiscard]] Json as_sort_word(const GivenOption& given, const Json* before);
[[nodiscard]] Json as_file_name(const GivenOption& given, const Json* before);
[[nodiscard]] Json as_random_source(const GivenOption& given, const Json* before);
[[nodiscard]] Json as_compress_program(const GivenOption& given, const Json* before);

}  // namespace ecosort::cli
