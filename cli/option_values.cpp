#include "cli/option_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "base/closest_word.h"
#include "base/errors.h"
#include "base/memory.h"
#include "base/size_text.h"
#include "job/cores.h"
#include "job/plan_codecs.h"
#include "job/prepare_records.h"

namespace ecosort::cli {

namespace {

std::string_view name_of(const GivenOption& given) { return last_spelling(given.row->name); }

std::uint64_t number_of(const GivenOption& given) { return whole_number(name_of(given), *given.word); }

char one_byte(const GivenOption& given) {
  if (given.word->size() == 1) return given.word->front();
  throw UsageError(fmt::format("{}: '{}' is not one byte", name_of(given), *given.word));
}

// Takes the byte that a word begins with behind a backslash off it: one that is hard to type.
char take_escaped(const GivenOption& given, std::string_view& rest) {
  if (rest.starts_with('t') || rest.starts_with('\\')) {
    const char byte = rest.front() == 't' ? '\t' : '\\';
    rest.remove_prefix(1);
    return byte;
  }
  const std::string_view digits = rest.starts_with('x') ? rest.substr(1, 2) : "";
  unsigned value = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (digits.size() != 2 || error != std::errc() || stop != digits.data() + digits.size())
    throw UsageError(
        fmt::format("{}: in '{}' a backslash is not followed by t, two hexadecimal digits as in \\x01, or another one",
                    name_of(given), *given.word));
  rest.remove_prefix(3);
  return static_cast<char>(value);
}

// Returns a delimiter: `tab`, or bytes. A backslash alone is one.
std::string delimiter_of(const GivenOption& given) {
  const std::string& word = *given.word;
  if (word == "tab") return "\t";
  if (word.size() == 1) return word;
  std::string bytes;
  for (std::string_view rest = word; !rest.empty();) {
    const char c = rest.front();
    rest.remove_prefix(1);
    bytes += c == '\\' ? take_escaped(given, rest) : c;
  }
  if (bytes.empty()) throw UsageError(fmt::format("{}: give one byte or more", name_of(given)));
  if (word.size() > 1 && std::ranges::all_of(word, [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }))
    throw UsageError(fmt::format("{}: '{}' is a word; give the delimiter as it is in the file, such as ';' or '||', or `tab`",
                                 name_of(given), word));
  return bytes;
}

Json text_of_byte(char byte) { return std::string(1, byte); }

// Returns whether the word is the first of two.
bool is_first(const GivenOption& given, std::string_view first, std::string_view second) {
  if (*given.word == first || *given.word == second) return *given.word == first;
  throw UsageError(fmt::format("{}: '{}' is neither '{}' nor '{}'", name_of(given), *given.word, first, second));
}

}  // namespace

// Strictly decimal: no sign, no octal.
std::uint64_t whole_number(std::string_view option, const std::string& text) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && stop == end) return value;
  const bool is_too_large = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  throw UsageError(fmt::format("{}: '{}' is {}", option, text, is_too_large ? "too large a number" : "not a whole number"));
}

bool is_standard_output(const std::string& path) {
  return path == "/dev/stdout" || path == "/dev/fd/1" || path == "/proc/self/fd/1";
}

Json as_text(const GivenOption& given, const Json* /*before*/) { return *given.word; }

Json as_bytes(const GivenOption& given, const Json* /*before*/) { return parse_bytes(*given.word, name_of(given)); }

// A request takes 0 for memory that no one gave.
Json as_memory(const GivenOption& given, const Json* /*before*/) {
  return std::max<std::uint64_t>(parse_bytes(*given.word, name_of(given)), 1);
}

Json as_number(const GivenOption& given, const Json* /*before*/) { return number_of(given); }

// A request takes 0 for keys that no one counted.
Json as_group_keys(const GivenOption& given, const Json* /*before*/) {
  const std::uint64_t keys = given.word ? number_of(given) : 0;
  if (keys > 0 || !given.word) return keys;
  throw UsageError(fmt::format("{}: give at least 1", name_of(given)));
}

// A request takes 0 for single lines.
Json as_record_lines(const GivenOption& given, const Json* /*before*/) {
  if (const std::uint64_t lines = number_of(given); lines > 0) return lines;
  throw UsageError(fmt::format("{}: give at least 1", name_of(given)));
}

Json as_threads(const GivenOption& given, const Json* /*before*/) {
  if (*given.word == "auto") return job::threads_for_cores();
  const std::uint64_t threads = number_of(given);
  if (threads > 0 && threads <= planner::most_threads) return threads;
  throw UsageError(fmt::format("{}: give a number from 1 to {}, or auto", name_of(given), planner::most_threads));
}

Json as_output(const GivenOption& given, const Json* /*before*/) { return is_standard_output(*given.word) ? "-" : *given.word; }

// The words that the row lists.
Json as_choice(const GivenOption& given, const Json* /*before*/) {
  const std::vector<std::string_view> choices = split(given.row->argument, '|');
  if (std::ranges::find(choices, *given.word) != choices.end()) return *given.word;
  throw UsageError(fmt::format("{}: '{}' is none of {}{}", name_of(given), *given.word, fmt::join(choices, ", "),
                               did_you_mean(*given.word, choices)));
}

Json as_reread(const GivenOption& given, const Json* /*before*/) {
  if (*given.word == "always" || *given.word == "reread") return *given.word == "reread";
  throw UsageError(
      fmt::format("--verify: '{}' is neither 'always' nor 'reread'; verification cannot be turned off", *given.word));
}

Json as_runs(const GivenOption& given, const Json* /*before*/) {
  (void)codec::run_compression_of_word(*given.word, name_of(given));
  return *given.word;
}

Json as_ratio(const GivenOption& given, const Json* /*before*/) { return codec::ratio_of_word(*given.word, name_of(given)); }

Json as_decompress(const GivenOption& given, const Json* /*before*/) {
  return codec::decompress_of_word(*given.word, name_of(given));
}

Json as_level(const GivenOption& given, const Json* /*before*/) {
  const int level = codec::level_of_word(*given.word, name_of(given));
  if (level >= 0) return static_cast<unsigned>(level);
  throw UsageError(fmt::format("{}: {} is too little; levels begin at 0", name_of(given), level));
}

// A request takes 0 for a size that no one gave.
Json as_rows(const GivenOption& /*given*/, const Json* before) { return before != nullptr ? *before : Json::object(); }

Json as_record_size(const GivenOption& given, const Json* /*before*/) {
  const std::uint64_t bytes = number_of(given);
  if (bytes > 0) return bytes;
  throw UsageError(fmt::format("record size 0: a record has 1 to {} bytes", records::max_record_size));
}

Json as_request_size(const GivenOption& given, const Json* /*before*/) {
  const std::uint64_t bytes = parse_bytes(*given.word, name_of(given));
  if (bytes % page_bytes == 0 && bytes >= planner::least_request_bytes && bytes <= planner::most_request_bytes) return bytes;
  throw UsageError(fmt::format("{} {}: give a multiple of 4KiB from {} to {}", name_of(given), *given.word,
                               format_bytes(planner::least_request_bytes), format_bytes(planner::most_request_bytes)));
}

Json as_request_depth(const GivenOption& given, const Json* /*before*/) {
  const std::uint64_t depth = number_of(given);
  if (depth > 0 && depth <= planner::most_depth) return depth;
  throw UsageError(fmt::format("{}: give a number from 1 to {}", name_of(given), planner::most_depth));
}

Json as_run_records(const GivenOption& given, const Json* /*before*/) {
  const std::uint64_t records = number_of(given);
  if (records >= planner::least_run_records) return records;
  throw UsageError(fmt::format("{}: give at least {}", name_of(given), planner::least_run_records));
}

Json as_hash(const GivenOption& given, const Json* /*before*/) {
  if (hash::MultisetHash::from_hex(*given.word, 0)) return *given.word;
  throw UsageError(
      fmt::format("{}: a hash has 32 hexadecimal digits, as `ecosort partition` and --stats print them", name_of(given)));
}

Json as_delimiter(const GivenOption& given, const Json* /*before*/) { return delimiter_of(given); }

Json as_byte(const GivenOption& given, const Json* /*before*/) { return text_of_byte(one_byte(given)); }

Json as_quote(const GivenOption& given, const Json* /*before*/) {
  return *given.word == "none" ? Json(nullptr) : text_of_byte(one_byte(given));
}

Json as_bad_rows(const GivenOption& given, const Json* /*before*/) {
  if (!given.word->empty()) return *given.word;
  throw UsageError(fmt::format("{}: give 'refuse', 'skip', or the name of a file", name_of(given)));
}

// Takes a text with which certain lines begin.
Json as_beginning(const GivenOption& given, const Json* /*before*/) {
  if (!given.word->empty() && given.word->find_first_of("\r\n") == std::string::npos) return *given.word;
  throw UsageError(fmt::format("{}: give what such lines begin with, in one line", name_of(given)));
}

Json as_count(const GivenOption& given, const Json* /*before*/) { return number_of(given); }

Json as_nulls_first(const GivenOption& given, const Json* /*before*/) { return is_first(given, "first", "last"); }

}  // namespace ecosort::cli
