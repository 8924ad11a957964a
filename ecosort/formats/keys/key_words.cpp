#include "formats/keys/key_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "base/closest_word.h"
#include "base/errors.h"

namespace ecosort::keys {
namespace {

constexpr std::array<std::pair<std::string_view, ValueType>, 7> types{{{"text", ValueType::text},
                                                                       {"nocase", ValueType::nocase},
                                                                       {"number", ValueType::number},
                                                                       {"integer", ValueType::integer},
                                                                       {"date", ValueType::date},
                                                                       {"version", ValueType::version},
                                                                       {"length", ValueType::length}}};

// Names of other tools, and what is meant by them.
constexpr std::pair<std::string_view, std::string_view> other_names[] = {
    {"float", "number"},    {"double", "number"},     {"decimal", "number"}, {"numeric", "number"},  {"real", "number"},
    {"int", "integer"},     {"long", "integer"},      {"bigint", "integer"}, {"string", "text"},     {"str", "text"},
    {"varchar", "text"},    {"bytes", "text"},        {"datetime", "date"},  {"timestamp", "date"},  {"time", "date"},
    {"natural", "version"}, {"ignorecase", "nocase"}, {"fold", "nocase"},    {"descending", "desc"}, {"reverse", "desc"},
    {"ascending", "asc"},
};

std::string did_you_mean_type(std::string_view word, std::span<const std::string_view> words) {
  for (const auto& [name, meant] : other_names)
    if (name == word) return fmt::format("; did you mean '{}'?", meant);
  return did_you_mean(word, words);
}

std::optional<ValueType> type_of(std::string_view word) {
  for (const auto& [name, type] : types)
    if (name == word) return type;
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

std::string_view to_string(ValueType type) noexcept {
  for (const auto& [name, of] : types)
    if (of == type) return name;
  return "";
}

std::string_view name_before_type(std::string_view name) noexcept {
  const std::size_t colon = name.rfind(':');
  return colon == std::string_view::npos ? std::string_view() : name.substr(0, colon);
}

std::string no_type_text(std::string_view name) {
  std::array<std::string_view, types.size()> words;
  std::ranges::transform(types, words.begin(), [](const auto& type) { return type.first; });
  const std::string_view word = last_word(name);
  const std::string meant = did_you_mean_type(word, words);
  return fmt::format("'{}' is no type{} key is NAME[:TYPE][:desc], its type one of {}", shown(word),
                     meant.empty() ? "; a" : meant + " A", fmt::join(words, ", "));
}

}  // namespace ecosort::keys

namespace ecosort {

// The type is written where the name might end with one.
std::string to_string(const ValueKey& key) {
  const ValueKey plain(key.name);
  const bool is_needed = key.type != ValueType::text || plain.name != key.name || plain.descends;
  return fmt::format("{}{}{}{}", key.name, is_needed ? ":" : "", is_needed ? keys::to_string(key.type) : "",
                     key.descends ? ":desc" : "");
}

ValueKey::ValueKey(std::string_view text) {
  std::string_view left = text;
  if (const std::string_view word = keys::last_word(left); word == "desc" || word == "asc") {
    descends = word == "desc";
    keys::cut_off(left, word);
  }
  if (const std::string_view word = keys::last_word(left); !word.empty()) {
    if (const auto written = keys::type_of(word)) {
      type = *written;
      keys::cut_off(left, word);
    }
  }
  if (left.empty()) throw UsageError(fmt::format("key '{}' names nothing; give NAME[:TYPE][:desc]", text));
  name = left;
}

}  // namespace ecosort
