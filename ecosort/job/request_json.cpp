// The text of a request. Each structure lists its members once (each_member), for the writer, the reader and the schema.
#include "job/request_json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/base64.h"
#include "base/closest_word.h"
#include "base/errors.h"
#include "base/json.h"
#include "base/utf8.h"
#include "ecosort/request.hpp"
#include "job/format_names.h"

namespace ecosort::job {
namespace {

constexpr std::string_view schema_name = "ecosort.request/1";
constexpr std::string_view in_base64 = "base64";  // of a text that is no UTF-8, as names of files may be

constexpr std::array<std::string_view, 3> names_of(PlaceKind /*of*/) { return {"file", "resumable", "in_place"}; }
constexpr std::array<std::string_view, 3> names_of(GroupsThatStay /*of*/) { return {"all", "repeated", "singles"}; }
constexpr std::array<std::string_view, 2> names_of(RowThatStays /*of*/) { return {"first", "last"}; }
constexpr std::array<std::string_view, 3> names_of(InputOrder /*of*/) { return {"any", "sorted", "believed"}; }

template <class Type>
concept Enumeration = std::is_enum_v<Type>;

template <class Type>
concept Key = std::same_as<Type, RecordKey> || std::same_as<Type, ValueKey> || std::same_as<Type, LineKey>;

template <class Type>
concept Structured = std::is_class_v<Type> && !Key<Type>;

template <class Type>
concept WholeNumber = std::unsigned_integral<Type> && !std::same_as<Type, bool>;

template <class Structure, class Each>
void each_member_of_rows(Structure& of, Each&& each) {
  using Type = std::remove_const_t<Structure>;
  if constexpr (std::is_same_v<Type, Records>) {
    each("record_size", of.record_size);
    each("keys", of.keys);
    each("reverse", of.reverse);
    each("skip_bytes", of.skip_bytes);
  } else if constexpr (std::is_same_v<Type, Lines>) {
    each("keys", of.keys);
    each("ordering", of.ordering);
    each("separator", of.separator);
    each("terminator", of.terminator);
    each("stable", of.stable);
    each("header_lines", of.header_lines);
    each("header_mark", of.header_mark);
    each("random_source", of.random_source);
    each("random_salt", of.random_salt);
    each("collate", of.collate);
    each("collation_version", of.collation_version);
    each("paragraphs", of.paragraphs);
    each("record_lines", of.record_lines);
    each("record_start", of.record_start);
  } else {
    each("keys", of.keys);
    each("nulls_first", of.nulls_first);
    each("strict", of.strict);
    each("date_format", of.date_format);
    each("collation_version", of.collation_version);
    each("bad_rows", of.bad_rows);
    if constexpr (std::is_same_v<Type, Csv>) {
      each("delimiter", of.delimiter);
      each("quote", of.quote);
      each("escape", of.escape);
      each("header", of.header);
      each("comment", of.comment);
      each("skip_lines", of.skip_lines);
    } else {
      each("allow_missing", of.allow_missing);
    }
  }
}

template <class Type>
concept Rows = std::same_as<Type, Records> || std::same_as<Type, Lines> || std::derived_from<Type, Values>;

template <class Structure, class Each>
void each_member_of_groups(Structure& of, Each&& each) {
  each("by", of.by);
  each("whole_rows", of.whole_rows);
  each("only", of.only);
  each("keep", of.keep);
  each("count", of.count);
  each("count_name", of.count_name);
}

template <class Structure, class Each>
void each_member_of_compression(Structure& of, Each&& each) {
  each("decompress", of.decompress);
  each("output", of.output);
  each("level", of.level);
  each("runs", of.runs);
  each("program", of.program);
  each("assumed_ratio", of.assumed_ratio);
  each("energy", of.energy);
}

template <class Structure, class Each>
void each_member_of_means(Structure& of, Each&& each) {
  each("memory_bytes", of.memory_bytes);
  each("memory_is_a_wish", of.memory_is_a_wish);
  each("threads", of.threads);
  each("merge_threads", of.merge_threads);
  each("temp_directories", of.temp_directories);
  each("io", of.io);
  each("request_bytes", of.request_bytes);
  each("request_depth", of.request_depth);
  each("keep_free_bytes", of.keep_free_bytes);
  each("gather", of.gather);
  each("run_records", of.run_records);
  each("batch_size", of.batch_size);
}

template <class Structure, class Each>
void each_member(Structure& of, Each&& each) {
  using Type = std::remove_const_t<Structure>;
  if constexpr (Rows<Type>) {
    each_member_of_rows(of, each);
  } else if constexpr (std::is_same_v<Type, Groups>) {
    each_member_of_groups(of, each);
  } else if constexpr (std::is_same_v<Type, Place>) {
    each("output", of.output);
    each("kind", of.kind);
    each("space_bytes", of.space_bytes);
    each("as_is", of.as_is);
    each("split", of.split);
    each("claim", of.claim);
  } else if constexpr (std::is_same_v<Type, EnergyTerms>) {
    each("idle_w", of.idle_w);
    each("core_w", of.core_w);
    each("gb_j", of.gb_j);
  } else if constexpr (std::is_same_v<Type, Compression>) {
    each_member_of_compression(of, each);
  } else if constexpr (std::is_same_v<Type, Means>) {
    each_member_of_means(of, each);
  } else if constexpr (std::is_same_v<Type, Verification>) {
    each("reread", of.reread);
    each("checksum", of.checksum);
    each("expected_hash", of.expected_hash);
  } else if constexpr (std::is_same_v<Type, Shuffle>) {
    each("seed", of.seed);
    each("skip", of.skip);
  } else {
    static_assert(std::is_same_v<Type, Request>);
    each("inputs", of.inputs);
    each("unique", of.unique);
    each("groups", of.groups);
    each("limit", of.limit);
    each("by_group", of.by_group);
    each("input_order", of.input_order);
    each("shuffle", of.shuffle);
    each("place", of.place);
    each("means", of.means);
    each("compression", of.compression);
    each("verification", of.verification);
  }
}

// ---- Writing.

Json json_of(bool value) { return value; }
Json json_of(WholeNumber auto value) { return value; }
Json json_of(int value) { return value; }
Json json_of(double value) { return value; }
Json json_of(const std::string& text) {
  if (is_utf8(text)) return text;
  return {{std::string(in_base64), to_base64(text)}};
}
Json json_of(char byte) { return json_of(std::string(1, byte)); }
Json json_of(Enumeration auto value) { return names_of(value)[static_cast<std::size_t>(value)]; }
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

[[noreturn]] void refuse(const std::string& place, std::string_view why) {
  throw UsageError(place.empty() ? fmt::format("request: {}", why) : fmt::format("request: {}: {}", place, why));
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

void read(const Json& json, const std::string& place, std::string& to) {
  if (const std::string* const text = json.text_value()) {
    to = *text;
  } else if (const std::string* const coded = json.find_text(in_base64)) {
    const std::optional<std::string> bytes = from_base64(*coded);
    if (!bytes) refuse(place, "is no base64");
    to = *bytes;
  } else {
    refuse(place, R"(is no text, and not {"base64": "..."} of one that is no UTF-8)");
  }
}

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

// ---- The schema.

Json schema_of(bool /*of*/) { return {{"type", "boolean"}}; }
Json schema_of(WholeNumber auto of) {
  return {{"type", "integer"}, {"minimum", 0}, {"maximum", std::numeric_limits<decltype(of)>::max()}};
}
Json schema_of(int /*of*/) { return {{"type", "integer"}, {"minimum", 0}}; }
Json schema_of(double /*of*/) { return {{"type", "number"}, {"minimum", 0}}; }
Json schema_of(char /*of*/) { return {{"$ref", "#/$defs/text"}}; }
Json schema_of(const std::string& /*of*/) { return {{"$ref", "#/$defs/text"}}; }
Json schema_of(const Key auto& /*of*/) { return {{"$ref", "#/$defs/text"}}; }
Json schema_of(const ValueKey& /*of*/) { return {{"$ref", "#/$defs/value_key"}}; }
Json schema_of(Enumeration auto of) {
  Json names = Json::array();
  for (const std::string_view name : names_of(of)) names.push_back(name);
  return {{"enum", std::move(names)}};
}

template <Structured Structure>
Json schema_of(const Structure& of);

template <class Type>
Json schema_of(const std::optional<Type>& /*of*/) {
  Json either = Json::array();
  either.push_back(schema_of(Type{}));
  either.push_back({{"type", "null"}});
  return {{"anyOf", std::move(either)}};
}

template <class Type>
Json schema_of(const std::vector<Type>& /*of*/) {
  return {{"type", "array"}, {"items", schema_of(Type{})}};
}

template <Structured Structure>
Json schema_of(const Structure& of) {
  Json members = Json::object();
  each_member(of, [&](std::string_view name, const auto& member) {
    Json schema = schema_of(member);
    if constexpr (!std::is_class_v<std::remove_cvref_t<decltype(member)>> ||
                  std::is_same_v<std::remove_cvref_t<decltype(member)>, std::string>)
      schema["default"] = json_of(member);
    members[name] = std::move(schema);
  });
  return {{"type", "object"}, {"properties", std::move(members)}, {"additionalProperties", false}};
}

std::string value_key_text() {
  std::vector<std::string> types;
  for (const ValueTypeFacts& type : value_types) types.push_back(std::string(type.name) + std::string(type.argument));
  return fmt::format("NAME[:TYPE][:desc]; types: {} (what follows a name of a type is left out, but of list)",
                     fmt::join(types, ", "));
}

Json value_key_examples() {
  Json examples = Json::array();
  for (const ValueTypeFacts& type : value_types) examples.push_back("name:" + std::string(type.name));
  return examples;
}

std::string request_text(const Request& request) {
  Json json{{"schema", schema_name}};
  json["inputs"] = json_of(request.inputs);
  json[format_names[request.rows.index()]] = std::visit([](const auto& rows) { return json_of(rows); }, request.rows);
  json.update(json_of(request));
  return json.text();
}

}  // namespace

Request request_of(const Json& json) {
  Request request;
  std::vector<std::string_view> known = read_members(json, "", request);
  known.emplace_back("schema");
  known.insert(known.end(), format_names.begin(), format_names.end());
  refuse_unknown(json, "", known);
  constexpr void (*readers[])(const Json&, Request&) = {read_rows<0>, read_rows<1>, read_rows<2>, read_rows<3>};
  std::size_t formats = 0;
  for (std::size_t i = 0; i < format_names.size(); ++i) {
    const Json* const rows = json.find(format_names[i]);
    if (rows == nullptr) continue;
    if (++formats > 1) refuse(std::string(format_names[i]), "rows have one format: give one of records, lines, csv and jsonl");
    readers[i](*rows, request);
  }
  if (formats == 0) refuse("", "does not say what the rows are: give one of records, lines, csv and jsonl");
  return request;
}

namespace {

Request request_of_text(std::string_view text) {
  const std::optional<Json> json = Json::parse(text);
  if (!json || !json->is_object()) refuse("", "is no JSON object");
  const std::string* const schema = json->find_text("schema");
  if (schema == nullptr || *schema != schema_name) refuse("schema", fmt::format("is not \"{}\"", schema_name));
  return request_of(*json);
}

std::string schema_text() {
  Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", schema_name}};
  schema.update(schema_of(Request{}));
  Json& members = schema["properties"];
  members["schema"] = {{"const", schema_name}};
  members["records"] = schema_of(Records{});
  members["lines"] = schema_of(Lines{});
  members["csv"] = schema_of(Csv{});
  members["jsonl"] = schema_of(JsonLines{});
  Json one = Json::array();
  for (const std::string_view name : format_names) one.push_back({{"required", std::vector<std::string>{std::string(name)}}});
  schema["oneOf"] = std::move(one);
  schema["required"] = std::vector<std::string>{"schema", "inputs"};
  Json texts = Json::array();
  texts.push_back({{"type", "string"}});
  texts.push_back({{"type", "object"},
                   {"properties", Json{{std::string(in_base64), Json{{"type", "string"}}}}},
                   {"required", std::vector<std::string>{std::string(in_base64)}},
                   {"additionalProperties", false}});
  schema["$defs"] =
      Json{{"text", Json{{"anyOf", std::move(texts)}}},
           {"value_key", Json{{"$ref", "#/$defs/text"}, {"description", value_key_text()}, {"examples", value_key_examples()}}}};
  return schema.text(2) + "\n";
}

}  // namespace
}  // namespace ecosort::job

namespace ecosort {

std::string to_json(const Request& request) { return job::request_text(request); }

Request request_from_json(std::string_view text) { return job::request_of_text(text); }

std::string request_schema() { return job::schema_text(); }

}  // namespace ecosort
