// The text of a request: what writes and what reads it.
#include "job/request_json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/closest_word.h"
#include "base/errors.h"
#include "base/json.h"
#include "base/text_json.h"
#include "job/request_members.h"

namespace ecosort::job {
namespace {

// ---- Writing.

using job::json_of;
Json json_of(const Key auto& key) { return json_of(to_string(key)); }

template <Structured Structure>
Json json_of(const Structure& value);

template <class Type>
Json json_of(const std::optional<Type>& value) {
  return value ? json_of(*value) : Json(nullptr);
}

template <class Type>
Json json_of(const std::vector<Type>& values) {
  Json list = Json::array();
  for (const Type& value : values) list.push_back(json_of(value));
  return list;
}

template <Structured Structure>
Json json_of(const Structure& value) {
  Json all = Json::object(), usual = Json::object(), json = Json::object();
  each_member(value, [&](std::string_view name, const auto& member) { all[name] = json_of(member); });
  const Structure by_default{};
  each_member(by_default, [&](std::string_view name, const auto& member) { usual[name] = json_of(member); });
  for (const std::string_view name : all.names())
    if (all.find(name)->text() != usual.find(name)->text()) json[name] = *all.find(name);
  return json;
}

// ---- Reading.

std::string shown(const std::string& place) { return place.empty() ? "request" : fmt::format("request: {}", place); }

[[noreturn]] void refuse(const std::string& place, std::string_view why) {
  throw UsageError(fmt::format("{}: {}", shown(place), why));
}

void read(const Json& json, const std::string& place, bool& to) {
  if (const bool* const flag = json.flag()) return void(to = *flag);
  refuse(place, "is neither true nor false");
}

template <WholeNumber Number>
void read(const Json& json, const std::string& place, Number& to) {
  const std::uint64_t* const number = json.number();
  if (number == nullptr || *number > std::numeric_limits<Number>::max())
    refuse(place, fmt::format("is no whole number from 0 to {}", std::numeric_limits<Number>::max()));
  to = static_cast<Number>(*number);
}

void read(const Json& json, const std::string& place, int& to) {
  const std::uint64_t* const number = json.number();
  if (number == nullptr || *number > static_cast<std::uint64_t>(std::numeric_limits<int>::max())) refuse(place, "is no number");
  to = static_cast<int>(*number);
}

void read(const Json& json, const std::string& place, double& to) {
  constexpr double most = 1e9;
  const std::optional<double> number = json.real();
  if (!number || !(*number >= 0 && *number < most)) refuse(place, "is no number from 0 on");
  to = *number;
}

void read(const Json& json, const std::string& place, std::string& to) { to = text_of(json, shown(place)); }

void read(const Json& json, const std::string& place, char& to) {
  std::string text;
  read(json, place, text);
  if (text.size() != 1) refuse(place, "is not one byte");
  to = text.front();
}

template <Enumeration Type>
void read(const Json& json, const std::string& place, Type& to) {
  std::string text;
  read(json, place, text);
  constexpr auto names = names_of(Type{});
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == text) return void(to = static_cast<Type>(i));
  refuse(place, fmt::format("'{}' is none of {}{}", text, fmt::join(names, ", "), did_you_mean(text, names)));
}

template <Key Type>
void read(const Json& json, const std::string& place, Type& to) {
  std::string text;
  read(json, place, text);
  to = Type(text);
}

template <Structured Structure>
void read(const Json& json, const std::string& place, Structure& to);

template <class Type>
void read(const Json& json, const std::string& place, std::optional<Type>& to) {
  if (json.is_null()) return to.reset();
  read(json, place, to.emplace());
}

template <class Type>
void read(const Json& json, const std::string& place, std::vector<Type>& to) {
  const std::vector<Json>* const list = json.list();
  if (list == nullptr) refuse(place, "is no list");
  for (const Json& value : *list) {
    const std::string at = fmt::format("{}[{}]", place, to.size());
    read(value, at, to.emplace_back());
  }
}

std::string within(const std::string& place, std::string_view name) {
  return place.empty() ? std::string(name) : fmt::format("{}.{}", place, name);
}

void refuse_unknown(const Json& json, const std::string& place, std::vector<std::string_view> known) {
  for (const std::string_view name : json.names())
    if (std::ranges::find(known, name) == known.end())
      refuse(within(place, name), fmt::format("there is no such member{}", did_you_mean(name, known)));
}

template <class Structure>
std::vector<std::string_view> read_members(const Json& json, const std::string& place, Structure& to) {
  if (!json.is_object()) refuse(place, "is no object");
  std::vector<std::string_view> names;
  each_member(to, [&](std::string_view name, auto& member) {
    names.push_back(name);
    if (const Json* const found = json.find(name)) read(*found, within(place, name), member);
  });
  return names;
}

template <Structured Structure>
void read(const Json& json, const std::string& place, Structure& to) {
  refuse_unknown(json, place, read_members(json, place, to));
}

template <std::size_t index>
void read_rows(const Json& json, Request& to) {
  read(json, std::string(format_names[index]), to.rows.emplace<index>());
}

std::string request_text(const Request& request) {
  Json json{{"schema", request_schema_name}};
  json["inputs"] = json_of(request.inputs);
  json[format_names[request.rows.index()]] = std::visit([](const auto& rows) { return json_of(rows); }, request.rows);
  json.update(json_of(request));
  return json.text();
}

std::string one_of_the_formats() { return fmt::format("give one of {}", fmt::join(format_names, ", ")); }

}  // namespace

Request request_of(const Json& json) {
  Request request;
  std::vector<std::string_view> known = read_members(json, "", request);
  known.emplace_back("schema");
  known.insert(known.end(), format_names.begin(), format_names.end());
  refuse_unknown(json, "", known);
  constexpr auto readers = []<std::size_t... index>(std::index_sequence<index...> /*of*/) {
    return std::array{&read_rows<index>...};
  }(std::make_index_sequence<format_names.size()>());
  std::size_t formats = 0;
  for (std::size_t i = 0; i < format_names.size(); ++i) {
    const Json* const rows = json.find(format_names[i]);
    if (rows == nullptr) continue;
    if (++formats > 1) refuse(std::string(format_names[i]), "rows have one format: " + one_of_the_formats());
    readers[i](*rows, request);
  }
  if (formats == 0) refuse("", "does not say what the rows are: " + one_of_the_formats());
  return request;
}

namespace {

Request request_of_text(std::string_view text) {
  const std::optional<Json> json = Json::parse(text);
  if (!json || !json->is_object()) refuse("", "is no JSON object");
  const std::string* const schema = json->find_text("schema");
  if (schema == nullptr || *schema != request_schema_name) refuse("schema", fmt::format("is not \"{}\"", request_schema_name));
  return request_of(*json);
}

}  // namespace
}  // namespace ecosort::job

namespace ecosort {

std::string to_json(const Request& request) { return job::request_text(request); }

Request request_from_json(std::string_view text) { return job::request_of_text(text); }

}  // namespace ecosort
