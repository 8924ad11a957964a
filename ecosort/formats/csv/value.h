// The value of a field: without its quotes and escapes.
//
// A byte behind an escape is itself, but for the letters and digits that MySQL writes: 0, b, n, r, t and Z mean NUL, backspace,
// newline, carriage return, tab and Control-Z. A field that is an escape and N is NULL, and its value is empty.
#pragma once

#include <optional>
#include <string>

#include "base/text.h"
#include "formats/csv/dialect.h"

namespace ecosort::csv {

// Holds the value where quotes in it are doubled, or something is escaped; else it lies in the field, which must stay there.
class CsvValue {
 public:
  // A whole field of a row that check_row() has nothing against.
  CsvValue(Text field, Dialect dialect) : text_(field) {
    if (is_changed(field, dialect)) [[unlikely]]
      change(dialect);
  }
  CsvValue(const CsvValue&) = delete;
  CsvValue& operator=(const CsvValue&) = delete;
  ~CsvValue() = default;

  [[nodiscard]] Text operator*() const noexcept { return text_; }

  // Returns whether the value may differ from the field.
  [[nodiscard]] static bool is_changed(Text field, Dialect dialect) noexcept {
    return (dialect.quote && !field.empty() && field.front() == *dialect.quote) ||
           (dialect.escape && field.find(*dialect.escape) != Text::npos);
  }

 private:
  void change(Dialect dialect);

  Text text_;
  std::string changed_;
};

// use(value) of a field, which is most often its own value and then costs nothing.
template <class Use>
decltype(auto) with_value(Text field, Dialect dialect, const Use& use) {
  if (CsvValue::is_changed(field, dialect)) [[unlikely]]
    return use(*CsvValue(field, dialect));
  return use(field);
}

}  // namespace ecosort::csv
