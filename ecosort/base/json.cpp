#include "base/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace ecosort {

using Library = nlohmann::ordered_json;

// Converts from and to the values of the library.
struct JsonLibrary {
  static Library of(const Json& json) {
    return std::visit([](const auto& value) { return of_value(value); }, json.value_);
  }

  static Json from(const Library& found) {
    switch (found.type()) {
      case Library::value_t::boolean:
        return found.get<bool>();
      case Library::value_t::number_integer:
        return found.get<std::int64_t>();
      case Library::value_t::number_unsigned:
        return found.get<std::uint64_t>();
      case Library::value_t::number_float:
        return found.get<double>();
      case Library::value_t::string:
        return found.get_ref<const std::string&>();
      case Library::value_t::array:
        return list(found);
      case Library::value_t::object:
        return members(found);
      default:
        return nullptr;
    }
  }

 private:
  template <class Value>
  static Library of_value(const Value& value) {
    return Library(value);
  }
  static Library of_value(const Json::List& list) {
    Library made = Library::array();
    for (const Json& value : list) made.push_back(of(value));
    return made;
  }
  static Library of_value(const Json::Members& members) {
    Library made = Library::object();
    for (const Json::Member& member : members) made.emplace(member.name, of(member.value));
    return made;
  }

  static Json list(const Library& found) {
    Json made = Json::array();
    for (const Library& value : found) made.push_back(from(value));
    return made;
  }
  static Json members(const Library& found) {
    Json made = Json::object();
    for (const auto& [name, value] : found.items()) made[name] = from(value);
    return made;
  }
};

Json::Json(Value value) noexcept : value_(std::move(value)) {}
Json::Json() noexcept = default;
Json::Json(std::nullptr_t) noexcept {}
Json::Json(double value) noexcept : value_(value) {}
Json::Json(const char* text) : value_(std::string(text)) {}
Json::Json(std::string_view text) : value_(std::string(text)) {}
Json::Json(std::string text) : value_(std::move(text)) {}
Json::Json(const std::vector<std::string>& texts) : value_(List(texts.begin(), texts.end())) {}
Json::Json(std::initializer_list<Member> members) : value_(Members(members)) {}
Json::Json(const Json&) = default;
Json::Json(Json&&) noexcept = default;
Json& Json::operator=(const Json&) = default;
Json& Json::operator=(Json&&) noexcept = default;
Json::~Json() = default;

Json Json::array() { return Json(Value(List())); }

Json Json::object() { return Json(Value(Members())); }

std::optional<Json> Json::parse(std::string_view text) {
  const Library found = Library::parse(text, nullptr, false);
  if (found.is_discarded()) return std::nullopt;
  return JsonLibrary::from(found);
}

template <class Type>
Type& Json::made() {
  if (std::holds_alternative<std::nullptr_t>(value_)) value_ = Type();
  return std::get<Type>(value_);
}

void Json::push_back(Json value) { made<List>().push_back(std::move(value)); }

Json& Json::operator[](std::string_view name) {
  Members& members = made<Members>();
  const auto found = std::ranges::find(members, name, &Member::name);
  return found != members.end() ? found->value : members.emplace_back(std::string(name), Json()).value;
}

void Json::update(Json members) {
  for (Member& member : members.made<Members>()) (*this)[member.name] = std::move(member.value);
}

bool Json::is_object() const noexcept { return std::holds_alternative<Members>(value_); }

const Json* Json::find(std::string_view name) const noexcept {
  const auto* const members = std::get_if<Members>(&value_);
  if (members == nullptr) return nullptr;
  const auto found = std::ranges::find(*members, name, &Member::name);
  return found == members->end() ? nullptr : &found->value;
}

bool Json::is_null() const noexcept { return std::holds_alternative<std::nullptr_t>(value_); }

const bool* Json::flag() const noexcept { return std::get_if<bool>(&value_); }

const std::uint64_t* Json::number() const noexcept { return std::get_if<std::uint64_t>(&value_); }

std::optional<double> Json::real() const noexcept {
  if (const auto* const value = std::get_if<double>(&value_)) return *value;
  if (const auto* const value = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*value);
  if (const auto* const value = number()) return static_cast<double>(*value);
  return std::nullopt;
}

const std::string* Json::text_value() const noexcept { return std::get_if<std::string>(&value_); }

const std::vector<Json>* Json::list() const noexcept { return std::get_if<List>(&value_); }

std::vector<std::string_view> Json::names() const {
  std::vector<std::string_view> names;
  if (const auto* const members = std::get_if<Members>(&value_))
    for (const Member& member : *members) names.push_back(member.name);
  return names;
}

const std::string* Json::find_text(std::string_view name) const noexcept {
  const Json* const found = find(name);
  return found == nullptr ? nullptr : found->text_value();
}

const std::uint64_t* Json::find_number(std::string_view name) const noexcept {
  const Json* const found = find(name);
  return found == nullptr ? nullptr : found->number();
}

std::string Json::text(int indent) const {
  return JsonLibrary::of(*this).dump(indent, ' ', false, Library::error_handler_t::replace);
}

}  // namespace ecosort
