#include "base/text_json.h"

#include <fmt/format.h>

#include <optional>

#include "base/base64.h"
#include "base/errors.h"
#include "base/utf8.h"

namespace ecosort {

Json text_json(const std::string& text) {
  if (is_utf8(text)) return text;
  return {{std::string(in_base64), to_base64(text)}};
}

Json with_coded_texts(const Json& value) {
  if (const std::string* const text = value.text_value()) return text_json(*text);
  if (value.list() == nullptr && !value.is_object()) return value;
  Json coded = value.is_object() ? Json::object() : Json::array();
  for (const std::string_view name : value.names()) coded[name] = with_coded_texts(*value.find(name));
  if (value.list() != nullptr)
    for (const Json& item : *value.list()) coded.push_back(with_coded_texts(item));
  return coded;
}

std::string text_of(const Json& json, std::string_view place) {
  if (const std::string* const text = json.text_value()) return *text;
  const std::string* const coded = json.find_text(in_base64);
  if (coded == nullptr)
    throw UsageError(fmt::format(R"({}: is no text, and not {{"{}": "..."}} of one that is no UTF-8)", place, in_base64));
  std::optional<std::string> bytes = from_base64(*coded);
  if (!bytes) throw UsageError(fmt::format("{}: is no base64", place));
  return *std::move(bytes);
}

}  // namespace ecosort
