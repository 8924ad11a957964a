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

// Takes a type with an argument, such as ":text@de" or ":list:S|M|L", off the end of the text, if there is one.
void take_type_with_argument(std::string_view& text, ValueKey& key) {
  for (const ValueTypeFacts& facts : value_types) {
    if (facts.argument.empty()) continue;
    const std::string begin = fmt::format(":{}{}{}", facts.name, facts.argument.front(), beginning_of_argument(facts));
    const std::size_t at = text.find(begin);
    if (at == std::string_view::npos) continue;
    key.type = facts.type;
    key.argument = text.substr(at + facts.name.size() + 2);
    if (key.argument.empty()) throw UsageError(fmt::format("key '{}' lacks what comes behind '{}'", text, begin));
    text = text.substr(0, at);
    return;
  }
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
  if (key.type == ValueType::list && (type_of(word) || word == "desc" || word == "asc"))
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
  if (const std::string_view word = keys::last_word(left); word == "desc" || word == "asc") {
    descends = word == "desc";
    keys::cut_off(left, word);
  }
  if (const auto written = keys::type_of(keys::last_word(left))) {
    type = *written;
    keys::cut_off(left, keys::last_word(left));
  } else {
    keys::take_type_with_argument(left, *this);
  }
  if (left.empty()) throw UsageError(fmt::format("key '{}' names nothing; give NAME[:TYPE][:desc]", text));
  name = left;
}

}  // namespace ecosort
