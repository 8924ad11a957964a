// The JSON schema of a request's text.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/text_json.h"
#include "job/request_members.h"

namespace ecosort::job {
namespace {

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

std::string schema_text() {
  Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", request_schema_name}};
  schema.update(schema_of(Request{}));
  Json& members = schema["properties"];
  members["schema"] = {{"const", request_schema_name}};
  [&]<std::size_t... index>(std::index_sequence<index...> /*of*/) {
    ((members[format_names[index]] = schema_of(std::variant_alternative_t<index, decltype(Request::rows)>{})), ...);
  }(std::make_index_sequence<format_names.size()>());
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

std::string request_schema() { return job::schema_text(); }

}  // namespace ecosort
