#include "formats/lines/key_words.h"

#include <fmt/format.h>

#include <limits>

#include "base/errors.h"
#include "formats/lines/quoted.h"

namespace ecosort::lines {
namespace {

[[noreturn]] void bad_key(std::string_view text, std::string_view why) {
  throw UsageError(fmt::format("{}: invalid field specification {}", why, quoted_word(text)));
}

// Reads one number from the front of `rest`; what does not fit counts as the largest.
std::optional<std::size_t> take_number(std::string_view& rest) {
  rest = without_number_beginning(rest);
  std::size_t value = 0, length = 0;
  for (; length < rest.size() && is_digit(rest[length]); ++length)
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, static_cast<std::size_t>(rest[length] - '0'), &value))
      value = std::numeric_limits<std::size_t>::max() / 16;
  if (length == 0) return std::nullopt;
  rest.remove_prefix(length);
  return value;
}

std::size_t need_number(std::string_view& rest, std::string_view where) {
  const std::string_view before = rest;
  const std::optional<std::size_t> number = take_number(rest);
  if (!number) throw UsageError(fmt::format("{}: invalid count at start of {}", where, quoted_word(before)));
  return *number;
}

bool take_point(std::string_view& rest) {
  if (rest.empty() || rest[0] != '.') return false;
  rest.remove_prefix(1);
  return true;
}

void take_letters(std::string_view& rest, KeyWords& key, BlankSide side) {
  while (!rest.empty() && key.set(rest[0], side)) rest.remove_prefix(1);
}

}  // namespace

bool KeyWords::set(char letter, BlankSide side) {
  constexpr std::string_view known = "bdfghiMnRrV";
  if (known.find(letter) == std::string_view::npos) return false;
  if (letter == 'b') {
    begin_blanks_ |= side != BlankSide::end;
    end_blanks_ |= side != BlankSide::begin;
  }
  if (!has(letter)) letters_ += letter;
  return true;
}

void KeyWords::inherit(const KeyWords& global) {
  letters_ = global.letters_;
  begin_blanks_ = global.begin_blanks_;
  end_blanks_ = global.end_blanks_;
}

void KeyWords::check_compatible() const {
  int kinds = 0;
  for (const char letter : std::string_view("nghM")) kinds += has(letter) ? 1 : 0;
  kinds += has('V') || has('R') || has('d') || has('i') ? 1 : 0;
  if (kinds <= 1) return;
  std::string listed;
  for (const char letter : std::string_view("dfghiMnRV"))
    if (has(letter) && (letter != 'i' || !has('d'))) listed += letter;
  throw UsageError(fmt::format("options '-{}' are incompatible", listed));
}

SortKey KeyWords::resolved() const {
  SortKey key = place;
  key.skip_begin_blanks = begin_blanks_;
  key.skip_end_blanks = end_blanks_;
  key.fold = has('f');
  key.reverse = has('r');
  if (has('d'))
    key.ignored = Ignored::all_but_dictionary;
  else if (has('i'))
    key.ignored = Ignored::unprintable;
  if (has('n')) key.kind = KeyKind::numeric;
  if (has('g')) key.kind = KeyKind::general;
  if (has('h')) key.kind = KeyKind::human;
  if (has('M')) key.kind = KeyKind::month;
  if (has('V')) key.kind = KeyKind::version;
  if (has('R')) key.kind = KeyKind::random;
  return key;
}

KeyWords parse_key_words(std::string_view text) {
  KeyWords key;
  std::string_view rest = text;
  const std::size_t field = need_number(rest, "invalid number at field start");
  if (field == 0) bad_key(text, "field number is zero");
  key.place.begin_field = field - 1;
  if (take_point(rest)) {
    const std::size_t at = need_number(rest, "invalid number after '.'");
    if (at == 0) bad_key(text, "character offset is zero");
    key.place.begin_char = at - 1;
  }
  take_letters(rest, key, BlankSide::begin);
  if (!rest.empty() && rest[0] == ',') {
    rest.remove_prefix(1);
    const std::size_t end = need_number(rest, "invalid number after ','");
    if (end == 0) bad_key(text, "field number is zero");
    key.place.end_field = end - 1;
    if (take_point(rest)) key.place.end_char = need_number(rest, "invalid number after '.'");
    take_letters(rest, key, BlankSide::end);
  }
  if (!rest.empty()) bad_key(text, "stray character in field spec");
  return key;
}

std::optional<KeyWords> parse_obsolescent_begin(std::string_view text) {
  KeyWords key;
  key.is_obsolescent = true;
  const std::optional<std::size_t> field = take_number(text);
  if (!field) return std::nullopt;
  key.place.begin_field = *field;
  if (take_point(text)) {
    const std::optional<std::size_t> at = take_number(text);
    if (!at) return std::nullopt;
    key.place.begin_char = *at;
  }
  take_letters(text, key, BlankSide::begin);
  if (!text.empty()) return std::nullopt;
  return key;
}

void parse_obsolescent_end(std::string_view text, KeyWords& key) {
  const std::string_view whole = text;
  key.place.end_field = need_number(text, "invalid number after '-'");
  if (take_point(text)) key.place.end_char = need_number(text, "invalid number after '.'");
  // "-N" without characters ends behind field N, which counts from 1; before the first field there is nothing.
  if (key.place.end_char == 0 && key.place.end_field > 0) --key.place.end_field;
  take_letters(text, key, BlankSide::end);
  if (!text.empty()) bad_key(fmt::format("-{}", whole), "stray character in field spec");
}

void resolve_keys(std::vector<KeyWords>& keys, const KeyWords& global, bool has_last_resort, LineOrderTerms& order) {
  for (KeyWords& key : keys)
    if (!key.has_options()) key.inherit(global);
  if (keys.empty() && global.orders()) keys.push_back(global);
  for (const KeyWords& key : keys) key.check_compatible();
  for (const KeyWords& key : keys) order.keys.push_back(key.resolved());
  order.reverse = global.has('r');
  order.last_resort = has_last_resort;
}

}  // namespace ecosort::lines
