#include "formats/lines/key_warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace ecosort::lines {
namespace {

using Warnings = std::vector<std::string>;

bool is_numeric(const KeyWords& key) { return key.has('n') || key.has('g') || key.has('h'); }
bool has_end(const SortKey& place) { return place.end_field != SortKey::whole_line; }
bool is_empty(const SortKey& place) { return has_end(place) && place.end_field < place.begin_field; }
bool spans_fields(const SortKey& place) { return !has_end(place) || place.begin_field < place.end_field; }

// Fields that blanks separate begin with these blanks, which count unless -b or the kind of the key passes over them.
bool counts_blanks(const KeyWords& key) {
  const SortKey resolved = key.resolved();
  const bool passes_over_blanks = is_numeric(key) || key.has('M');
  const bool at_begin = !resolved.skip_begin_blanks && (!passes_over_blanks || resolved.begin_char > 0);
  const bool at_end = !resolved.skip_end_blanks && resolved.end_char > 0;
  const bool ends_within_first_field = resolved.end_field == 0 && resolved.end_char > 0;
  return !ends_within_first_field && (at_begin || at_end);
}

std::string newer_form(const SortKey& place) {
  const std::size_t begin = place.begin_field;
  if (!has_end(place)) return fmt::format("obsolescent key '+{}' used; consider '-k {}' instead", begin, begin + 1);
  const std::size_t end = place.end_field + 1;
  return fmt::format("obsolescent key '+{} -{}' used; consider '-k {},{}' instead", begin, end, begin + 1, end);
}

void warn_of_key(const KeysInUse& use, std::size_t number, const KeyWords& key, Warnings& warnings) {
  if (key.is_obsolescent) warnings.push_back(newer_form(key.place));
  if (is_empty(key.place))
    warnings.push_back(fmt::format("key {} has zero width and will be ignored", number));
  else if (!use.is_global_only && !use.separator && counts_blanks(key))
    warnings.push_back(fmt::format("leading blanks are significant in key {}; consider also specifying 'b'", number));
  if (!use.is_global_only && is_numeric(key) && spans_fields(key.place))
    warnings.push_back(fmt::format("key {} is numeric and spans multiple fields", number));
}

// A key of several fields contains their separators.
void warn_of_numbers(const KeysInUse& use, Warnings& warnings) {
  if (std::ranges::none_of(use.keys, is_numeric)) return;
  const auto spans = [&](const KeyWords& key) { return !use.is_global_only && is_numeric(key) && spans_fields(key.place); };
  const bool any_spans = std::ranges::any_of(use.keys, spans);
  const bool general_spans = std::ranges::any_of(use.keys, [&](const KeyWords& key) { return spans(key) && key.has('g'); });
  if (any_spans && use.separator == '.') {
    warnings.emplace_back("field separator '.' is treated as a decimal point in numbers");
    return;
  }
  if (any_spans && use.separator == '-') warnings.emplace_back("field separator '-' is treated as a minus sign in numbers");
  if (general_spans && use.separator == '+') warnings.emplace_back("field separator '+' is treated as a plus sign in numbers");
  const std::string_view note = use.separator == '.' ? "" : "note ";
  warnings.push_back(fmt::format("{}numbers use '.' as a decimal point in this locale", note));
}

// The first of -d and -i wins, so that only it is in effect.
bool has_effect(const KeyWords& key, char letter) { return key.has(letter) && (letter != 'i' || !key.has('d')); }

bool is_unused(const KeysInUse& use, char letter) {
  if (!has_effect(use.global, letter)) return false;
  if (letter != 'b') return std::ranges::none_of(use.keys, [&](const KeyWords& key) { return has_effect(key, letter); });
  return std::ranges::none_of(use.keys, [](const KeyWords& key) { return key.resolved().skip_begin_blanks; }) ||
         std::ranges::none_of(use.keys, [](const KeyWords& key) { return key.resolved().skip_end_blanks; });
}

// Keys that have options of their own inherit none.
void warn_of_global_options(const KeysInUse& use, Warnings& warnings) {
  if (use.keys.empty()) return;
  std::string ignored;
  for (const char letter : std::string_view("bdfghiMnRrV"))
    if (is_unused(use, letter) && (letter != 'r' || !use.has_last_resort)) ignored += letter;
  if (!ignored.empty())
    warnings.push_back(
        fmt::format("option{} '-{}' {} ignored", ignored.size() > 1 ? "s" : "", ignored, ignored.size() > 1 ? "are" : "is"));
  if (use.has_last_resort && is_unused(use, 'r')) warnings.emplace_back("option '-r' only applies to last-resort comparison");
}

}  // namespace

std::vector<std::string> key_warnings(const KeysInUse& use) {
  Warnings warnings{"text ordering performed using simple byte comparison"};
  std::size_t number = 0;
  for (const KeyWords& key : use.keys) warn_of_key(use, ++number, key, warnings);
  warn_of_numbers(use, warnings);
  warn_of_global_options(use, warnings);
  return warnings;
}

}  // namespace ecosort::lines
