// A JSON value: what reports and plans are made of. The library that writes and reads its text is included by json.cpp alone,
// because it costs every file that includes it seconds to compile.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace ecosort {

// null, a boolean, a number, a text, a list or an object, whose members stay in the order in which they were added.
class Json {
 public:
  struct Member;

  // NOLINTBEGIN(google-explicit-constructor): a report is written as {{"name", value}, ...}.
  Json() noexcept;
  Json(std::nullptr_t) noexcept;
  template <std::integral Number>
  Json(Number value) noexcept : Json(Value(widened(value))) {}
  Json(double value) noexcept;
  Json(const char* text);
  Json(std::string_view text);
  Json(std::string text);
  Json(const std::vector<std::string>& texts);  // a list
  Json(std::initializer_list<Member> members);  // an object; {} is null
  // NOLINTEND(google-explicit-constructor)
  Json(const Json&);
  Json(Json&&) noexcept;
  Json& operator=(const Json&);
  Json& operator=(Json&&) noexcept;
  ~Json();

  [[nodiscard]] static Json array();
  [[nodiscard]] static Json object();
  // Nothing: the text is not JSON.
  [[nodiscard]] static std::optional<Json> parse(std::string_view text);

  // Adds a value to a list, or to null, which becomes one.
  void push_back(Json value);
  // Returns the member of that name of an object, or of null, which becomes one; it is null when it was not there.
  Json& operator[](std::string_view name);
  // Adds the members of another object; those of the same name are replaced.
  void update(Json members);

  [[nodiscard]] bool is_object() const noexcept;
  [[nodiscard]] bool is_null() const noexcept;
  // Return the value; null pointers, or nothing: it is of another type.
  [[nodiscard]] const bool* flag() const noexcept;
  [[nodiscard]] const std::uint64_t* number() const noexcept;  // a whole one from 0 on
  [[nodiscard]] std::optional<double> real() const noexcept;   // any number
  [[nodiscard]] const std::string* text_value() const noexcept;
  [[nodiscard]] const std::vector<Json>* list() const noexcept;
  [[nodiscard]] std::vector<std::string_view> names() const;  // of the members of an object
  // Null pointers: the object has no such member, or it is of another type.
  [[nodiscard]] const Json* find(std::string_view name) const noexcept;
  [[nodiscard]] const std::string* find_text(std::string_view name) const noexcept;
  [[nodiscard]] const std::uint64_t* find_number(std::string_view name) const noexcept;

  // `indent`: spaces for each level, -1: all on one line. Bytes that are not UTF-8, which names of files may hold, become U+FFFD:
  // a name in a report is no reason to fail after the work.
  [[nodiscard]] std::string text(int indent = -1) const;

 private:
  using List = std::vector<Json>;
  using Members = std::vector<Member>;
  using Value = std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string, List, Members>;
  friend struct JsonLibrary;

  explicit Json(Value value) noexcept;
  template <std::integral Number>
  static auto widened(Number value) noexcept {
    if constexpr (std::is_same_v<Number, bool>)
      return value;
    else
      return static_cast<std::conditional_t<std::is_signed_v<Number>, std::int64_t, std::uint64_t>>(value);
  }
  template <class Type>
  Type& made();

  Value value_;
};

struct Json::Member {
  std::string name;
  Json value;
};

}  // namespace ecosort
