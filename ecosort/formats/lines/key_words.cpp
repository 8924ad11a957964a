#include "formats/lines/key_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
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

void resolve_keys(std::vector<KeyWords>& keys, const KeyWords& global) {
  for (KeyWords& key : keys)
    if (!key.has_options()) key.inherit(global);
  if (keys.empty() && global.orders()) keys.push_back(global);
  for (const KeyWords& key : keys) key.check_compatible();
}

namespace {

KeyWords ordering_of(std::string_view letters) {
  KeyWords words;
  for (const char letter : letters)
    if (!words.set(letter, BlankSide::both))
      throw UsageError(fmt::format("'{}' is no ordering option of lines: give letters of bdfghiMnRrV", letter));
  return words;
}

Digest salt_of(std::string_view digits) {
  Digest salt{};
  for (std::size_t i = 0; i < salt.size(); ++i) {
    const std::string_view byte = digits.substr(std::min(2 * i, digits.size()), 2);
    const auto [stop, error] = std::from_chars(byte.data(), byte.data() + byte.size(), salt[i], 16);
    if (byte.size() != 2 || error != std::errc() || stop != byte.data() + byte.size() || digits.size() != 2 * salt.size())
      throw UsageError(fmt::format("'{}' is no salt: it has 32 hexadecimal digits", digits));
  }
  return salt;
}

}  // namespace

namespace {

// Keys that are texts have the order of the language, and so has the line as a whole, in front of that by its bytes.
void collate(const std::string& locale, LineOrderTerms& order) {
  order.collation.emplace(locale);
  if (order.keys.empty() || order.last_resort) {
    SortKey line;
    line.reverse = order.reverse;
    order.keys.push_back(line);
  }
  for (SortKey& key : order.keys) {
    if (key.kind != KeyKind::text) continue;
    if (key.fold || key.ignored != Ignored::nothing)
      throw UsageError(
          "--collate cannot be combined with -d, -f and -i: ask for it in the locale, such as de-u-ks-level2 for "
          "letters of either case and en-u-ka-shifted to pass over punctuation");
    key.kind = KeyKind::collated;
  }
}

}  // namespace

LineOrderTerms order_terms(const Lines& lines, bool is_unique) {
  std::vector<KeyWords> keys(lines.keys.begin(), lines.keys.end());
  const KeyWords global = ordering_of(lines.ordering);
  resolve_keys(keys, global);
  LineOrderTerms order;
  for (const KeyWords& key : keys) order.keys.push_back(key.resolved());
  order.last_resort = !lines.stable && !is_unique;
  order.reverse = global.has('r');
  order.separator = lines.separator;
  if (!lines.random_salt.empty()) order.salt = salt_of(lines.random_salt);
  if (!lines.collate.empty()) collate(lines.collate, order);
  return order;
}

std::string salt_text(const Digest& salt) {
  std::string text;
  for (const unsigned char byte : salt) text += fmt::format("{:02x}", byte);
  return text;
}

bool uses_chance(const LineOrderTerms& order) noexcept {
  return std::ranges::any_of(order.keys, [](const SortKey& key) { return key.kind == KeyKind::random; });
}

KeyWords::KeyWords(const LineKey& key) : begin_blanks_(key.skips_blanks_at_begin), end_blanks_(key.skips_blanks_at_end) {
  if (begin_blanks_ || end_blanks_) letters_.push_back('b');
  for (const char letter : key.ordering)
    if (letter == 'b' || !set(letter, BlankSide::both))
      throw UsageError(fmt::format("'{}' is no ordering option of a key: give letters of dfghiMnRrV", letter));
  place.begin_field = key.begin_field - 1;
  place.begin_char = key.begin_character - 1;
  if (key.end_field > 0) place.end_field = key.end_field - 1;
  place.end_char = key.end_character;
}

LineKey KeyWords::key() const {
  LineKey key;
  for (const char letter : letters_)
    if (letter != 'b') key.ordering += letter;
  key.skips_blanks_at_begin = begin_blanks_;
  key.skips_blanks_at_end = end_blanks_;
  key.begin_field = place.begin_field + 1;
  key.begin_character = place.begin_char + 1;
  if (place.end_field != SortKey::whole_line) key.end_field = place.end_field + 1;
  key.end_character = place.end_char;
  return key;
}

}  // namespace ecosort::lines

namespace ecosort {

std::string to_string(const LineKey& key) {
  std::string text = fmt::format("{}", key.begin_field);
  if (key.begin_character != 1) text += fmt::format(".{}", key.begin_character);
  if (key.skips_blanks_at_begin) text += 'b';
  text += key.ordering;
  if (key.end_field == 0) return text;
  text += fmt::format(",{}", key.end_field);
  if (key.end_character != 0) text += fmt::format(".{}", key.end_character);
  if (key.skips_blanks_at_end) text += 'b';
  return text;
}

LineKey::LineKey(std::string_view text) : LineKey(lines::parse_key_words(text).key()) {}

}  // namespace ecosort
