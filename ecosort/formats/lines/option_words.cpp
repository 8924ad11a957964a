#include "formats/lines/option_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>

#include "formats/lines/quoted.h"
#include "formats/lines/text.h"

namespace ecosort::lines {
namespace {

// Words that mean the same are neighbours.
struct WordChoice {
  std::string_view word;
  char meaning;
};

constexpr WordChoice sort_words[] = {{"general-numeric", 'g'}, {"human-numeric", 'h'}, {"month", 'M'},
                                     {"numeric", 'n'},         {"random", 'R'},        {"version", 'V'}};
constexpr WordChoice check_words[] = {{"quiet", 'C'}, {"silent", 'C'}, {"diagnose-first", 'c'}};

std::string listed(std::span<const WordChoice> choices) {
  std::string text = "Valid arguments are:";
  char before = 0;
  for (const WordChoice& choice : choices) {
    text += fmt::format("{}'{}'", choice.meaning == before ? ", " : "\n  - ", choice.word);
    before = choice.meaning;
  }
  return text;
}

char choose(std::string_view word, std::string_view name, std::span<const WordChoice> choices) {
  std::optional<char> found;
  bool is_ambiguous = false;
  for (const WordChoice& choice : choices) {
    if (choice.word == word) return choice.meaning;
    if (!choice.word.starts_with(word)) continue;
    is_ambiguous = is_ambiguous || (found && *found != choice.meaning);
    found = choice.meaning;
  }
  if (found && !is_ambiguous) return *found;
  throw WrongWord(fmt::format("{} argument {} for '--{}'", is_ambiguous ? "ambiguous" : "invalid", quoted_word(word), name),
                  fmt::format("{}\n{}", listed(choices), see_help));
}

// "invalid -S argument '5x'".
[[noreturn]] void wrong_number(const char* what, std::string_view option, std::string_view text, const char* how = "") {
  throw UsageError(fmt::format("{}{} argument {}{}", what, option, quoted_word(text), how));
}

// `too_large` is not undone by what fits.
struct Number {
  std::uint64_t value = 0;
  bool too_large = false;

  void multiply(std::uint64_t by) { too_large |= __builtin_mul_overflow(value, by, &value); }
  void add(std::uint64_t more) { too_large |= __builtin_add_overflow(value, more, &value); }
};

// Digits at the front.
Number take_digits(std::string_view& rest) {
  Number number;
  for (; !rest.empty() && is_digit(rest[0]); rest.remove_prefix(1)) {
    number.multiply(10);
    number.add(static_cast<std::uint64_t>(rest[0] - '0'));
  }
  return number;
}

Number parse_digits(std::string_view text, std::string_view option) {
  std::string_view rest = without_number_beginning(text);
  if (rest.empty() || !is_digit(rest[0])) wrong_number("invalid ", option, text);
  const Number number = take_digits(rest);
  if (!rest.empty()) wrong_number("invalid suffix in ", option, text);
  return number;
}

// By how many 1024 a letter multiplies; nothing for what is no unit.
std::optional<unsigned> power_of(char unit) {
  if (unit == 'k' || unit == 'm' || unit == 'g' || unit == 't') unit = to_upper(unit);
  const std::size_t power = std::string_view("bKMGTPEZY").find(unit);
  return power == std::string_view::npos ? std::nullopt : std::optional(static_cast<unsigned>(power));
}

}  // namespace

std::uint64_t parse_count(std::string_view text, std::string_view option) {
  const Number number = parse_digits(text, option);
  if (number.too_large) wrong_number("", option, text, " too large");
  return number.value;
}

std::uint64_t parse_saturated_count(std::string_view text, std::string_view option) {
  const Number number = parse_digits(text, option);
  return number.too_large ? std::numeric_limits<std::uint64_t>::max() : number.value;
}

// A unit alone means one of it.
SizeWord parse_size(std::string_view text) {
  std::string_view rest = without_number_beginning(text);
  const bool has_digits = !rest.empty() && is_digit(rest[0]);
  if (!has_digits && (rest.empty() || !power_of(rest[0]))) wrong_number("invalid ", "-S", text);
  Number number = has_digits ? take_digits(rest) : Number{1, false};
  if (rest == "%" && has_digits) {
    const unsigned percent = number.too_large ? 100 : static_cast<unsigned>(std::min<std::uint64_t>(number.value, 100));
    return percent == 0 ? SizeWord{1, 0} : SizeWord{0, percent};
  }
  const std::optional<unsigned> power = rest.empty() ? 1 : power_of(rest[0]);
  if (rest.size() > 1 || !power) wrong_number("invalid suffix in ", "-S", text);
  for (unsigned i = 0; i < *power; ++i) number.multiply(1024);
  if (number.too_large) wrong_number("", "-S", text, " too large");
  return {std::max(number.value, std::uint64_t{1}), 0};
}

char sort_word(std::string_view word) { return choose(word, "sort", sort_words); }

char check_word(std::string_view word) { return choose(word, "check", check_words); }

}  // namespace ecosort::lines
