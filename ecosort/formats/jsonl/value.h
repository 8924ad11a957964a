// Reads the text of a value in a line of JSON.
#pragma once

#include <string>

#include "base/text.h"

namespace ecosort::jsonl {

// A string without its quotes, with characters in place of escapes: what a key compares. All other values, also objects and
// arrays, are the bytes that they have in the line. No value, or null, is none (data() is null).
//
// Holds the text where it has escapes; else it lies in the line, which must stay there.
class JsonValue {
 public:
  // Takes what find_value() and read_row() return. `has_comma`: its key is of numbers with a decimal comma, and those of JSON,
  // which have a point whatever people write, are to be such numbers.
  explicit JsonValue(Text raw, bool has_comma = false) : text_(raw.empty() ? Text() : raw) {
    if (!raw.empty() && raw.front() == '"')
      take_string();
    else if (has_comma)
      take_number();
  }
  JsonValue(const JsonValue&) = delete;
  JsonValue& operator=(const JsonValue&) = delete;
  ~JsonValue() = default;

  [[nodiscard]] Text operator*() const noexcept { return text_; }

 private:
  void take_string();
  void take_number();

  Text text_;
  std::string changed_;
};

// Returns what is between the quotes of a valid string, with characters in place of escapes. A surrogate without its other half
// has the three bytes that it would have in UTF-8.
[[nodiscard]] std::string without_escapes(Text text);

}  // namespace ecosort::jsonl
