#include "formats/keys/key_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "base/closest_word.h"
#include "base/errors.h"

namespace ecosort::keys {
namespace {

// Names of other tools, and what is meant by them.
constexpr std::pair<std::string_view, std::string_view> other_names[] = {
    {"double", "float"},
    {"real", "float"},
    {"decimal", "number"},
    {"numeric", "number"},
    {"money", "number"},
    {"int", "integer"},
    {"long", "integer"},
    {"bigint", "integer"},
    {"string", "text"},
    {"str", "text"},
    {"varchar", "text"},
    {"bytes", "text"},
    {"datetime", "date"},
    {"timestamp", "date"},
    {"time", "date"},
    {"ignorecase", "nocase"},
    {"fold", "nocase"},
    {"boolean", "bool"},
    {"guid", "uuid"},
    {"inet", "ip"},
    {"ipv4", "ip"},
    {"ipv6", "ip"},
    {"cidr", "ip"},
    {"interval", "duration"},
    {"timedelta", "duration"},
    {"enum", "list"},
    {"human", "size"},
    {"chromosome", "version"},
    {"descending", "desc"},
    {"reverse", "desc"},
    {"ascending", "asc"},
};

std::string did_you_mean_type(std::string_view word, std::span<const std::string_view> words) {
  for (const auto& [name, meant] : other_names)
    if (name == word) return fmt::format("; did you mean '{}'?", meant);
  return did_you_mean(word, words);
}

// Returns what an argument of the type begins with behind the character in front of it: "decimal=", or nothing.
std::string_view beginning_of_argument(const ValueTypeFacts& facts) {
  return facts.argument.substr(1, facts.argument.find('=') == std::string_view::npos ? 0 : facts.argument.find('='));
}

// Returns whether that place lies within a quoted name, whose colons are its own. A quote that is never closed is a sign like
// others.
bool is_quoted(std::string_view text, std::size_t at) noexcept {
  return std::ranges::count(text.substr(0, at), '"') % 2 == 1 && text.find('"', at) != std::string_view::npos;
}

struct TypeWithArgument {
  const ValueTypeFacts* facts = nullptr;  // none: the text has no such type
  std::size_t at = std::string_view::npos;
  std::string begin;  // ":list:", ":text@", ":number:decimal="
};

// Finds the first one, such as ":text@de" or ":list:S|M|L": what looks like another one behind it is a part of its argument.
TypeWithArgument type_with_argument(std::string_view text) {
  TypeWithArgument first;
  for (const ValueTypeFacts& facts : value_types) {
    if (facts.argument.empty()) continue;
    std::string begin = fmt::format(":{}{}{}", facts.name, facts.argument.front(), beginning_of_argument(facts));
    std::size_t at = text.find(begin);
    while (at != std::string_view::npos && is_quoted(text, at)) at = text.find(begin, at + 1);
    if (at < first.at) first = {&facts, at, std::move(begin)};
  }
  return first;
}

// Takes it off the end of the text, if there is one.
void take_type_with_argument(std::string_view& text, ValueKey& key) {
  const TypeWithArgument found = type_with_argument(text);
  if (found.facts == nullptr) return;
  key.type = found.facts->type;
  key.argument = text.substr(found.at + found.facts->name.size() + 2);
  if (key.argument.empty()) throw UsageError(fmt::format("key '{}' lacks what comes behind '{}'", text, found.begin));
  text = text.substr(0, found.at);
}

std::optional<ValueType> type_of(std::string_view word) {
  for (const ValueTypeFacts& facts : value_types)
    if (facts.name == word) return facts.type;
  return std::nullopt;
}

// Takes ":WORD" off the end of the text.
std::string_view last_word(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  return colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
}

void cut_off(std::string_view& text, std::string_view word) { text.remove_suffix(word.size() + 1); }

// Returns whether a backslash makes the character there a part of a listed value.
bool is_escaped(std::string_view text, std::size_t at) noexcept {
  const std::string_view before = text.substr(0, at);
  return (before.size() - (before.find_last_not_of('\\') + 1)) % 2 == 1;
}

// Returns what a type or a direction may be: the last word, if it is not a part of a listed value.
std::string_view type_or_direction(std::string_view text) {
  const std::string_view word = last_word(text);
  const TypeWithArgument argument = type_with_argument(text);
  const bool is_listed = argument.facts != nullptr && argument.facts->type == ValueType::list;
  return is_listed && is_escaped(text, text.size() - word.size() - 1) ? std::string_view() : word;
}

}  // namespace

std::string shown(std::string_view value) {
  constexpr std::size_t most = 60;
  std::string text(value.substr(0, most));
  std::ranges::replace_if(text, [](char c) { return static_cast<unsigned char>(c) < ' '; }, '?');
  return value.size() > most ? text + "..." : text;
}

namespace {

// A listed value that would be read as a type or a direction gets a backslash.
std::string argument_of(const ValueKey& key) {
  std::string argument = key.argument;
  const std::string whole = ":" + argument;
  const std::string_view word = last_word(whole);
  const bool is_escaped_already = is_escaped(whole, whole.size() - word.size() - 1);
  if (key.type == ValueType::list && !is_escaped_already && (type_of(word) || word == "desc" || word == "asc"))
    argument.insert(argument.size() - word.size(), "\\");
  return argument;
}

}  // namespace

std::string type_word(const ValueKey& key) {
  const ValueTypeFacts& facts = value_types[static_cast<std::size_t>(key.type)];
  if (key.argument.empty() || facts.argument.empty()) return std::string(facts.name);
  return fmt::format("{}{}{}", facts.name, facts.argument.front(), argument_of(key));
}

std::string_view name_before_type(std::string_view name) noexcept {
  const std::size_t colon = name.rfind(':');
  return colon == std::string_view::npos ? std::string_view() : name.substr(0, colon);
}

std::string no_type_text(std::string_view name) {
  std::array<std::string_view, std::size(value_types)> words;
  std::ranges::transform(value_types, words.begin(), &ValueTypeFacts::name);
  const std::string_view word = last_word(name);
  if (word == "desc" || word == "asc") return fmt::format("'{}' comes last, behind the type: NAME:TYPE:{}", word, word);
  const bool is_direction = edit_distance(word, "desc") <= 1;
  const std::string meant = is_direction ? "; did you mean 'desc'?" : did_you_mean_type(word, words);
  return fmt::format("'{}' is no type{} key is NAME[:TYPE][:desc], its type one of {}", shown(word),
                     meant.empty() ? "; a" : meant + " A", fmt::join(words, ", "));
}

}  // namespace ecosort::keys

namespace ecosort {

// The type is written where the name might end with one.
std::string to_string(const ValueKey& key) {
  const ValueKey plain(key.name);
  const bool is_needed = key.type != ValueType::text || !key.argument.empty() || plain.name != key.name || plain.descends;
  return fmt::format("{}{}{}{}", key.name, is_needed ? ":" : "", is_needed ? keys::type_word(key) : "",
                     key.descends ? ":desc" : "");
}

ValueKey::ValueKey(std::string_view text) {
  std::string_view left = text;
  if (const std::string_view word = keys::type_or_direction(left); word == "desc" || word == "asc") {
    descends = word == "desc";
    keys::cut_off(left, word);
  }
  if (const std::string_view word = keys::type_or_direction(left); const auto written = keys::type_of(word)) {
    type = *written;
    keys::cut_off(left, word);
  } else {
    keys::take_type_with_argument(left, *this);
  }
  if (left.empty()) throw UsageError(fmt::format("key '{}' names nothing; give NAME[:TYPE][:desc]", text));
  name = left;
}

}  // namespace ecosort
