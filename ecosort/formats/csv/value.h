// The value of a field: without its quotes.
#pragma once

#include <optional>
#include <string>

#include "base/text.h"
#include "formats/csv/dialect.h"

namespace ecosort::csv {

// Holds the value where quotes in it are doubled; else it lies in the field, which must stay there.
class CsvValue {
 public:
  // A whole field of a row that check_row() has nothing against.
  CsvValue(Text field, Dialect dialect) : text_(field) {
    if (dialect.quote && !field.empty() && field.front() == *dialect.quote) [[unlikely]]
      unquote(*dialect.quote);
  }
  CsvValue(const CsvValue&) = delete;
  CsvValue& operator=(const CsvValue&) = delete;
  ~CsvValue() = default;

  [[nodiscard]] Text operator*() const noexcept { return text_; }

 private:
  void unquote(char quote);

  Text text_;
  std::string changed_;
};

// use(value) of a field, which is most often its own value and then costs nothing.
template <class Use>
decltype(auto) with_value(Text field, Dialect dialect, const Use& use) {
  if (dialect.quote && !field.empty() && field.front() == *dialect.quote) [[unlikely]]
    return use(*CsvValue(field, dialect));
  return use(field);
}

}  // namespace ecosort::csv
