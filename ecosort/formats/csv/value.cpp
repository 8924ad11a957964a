#include "formats/csv/value.h"

#include <algorithm>

namespace ecosort::csv {

void CsvValue::unquote(char quote) {
  text_ = text_.substr(1, text_.size() - 2);
  if (text_.find(quote) == Text::npos) return;
  changed_.reserve(text_.size());
  for (std::size_t at = 0; at < text_.size();) {
    const std::size_t end = std::min(text_.find(quote, at), text_.size() - 1) + 1;  // with the first one of two quotes
    changed_.append(text_.substr(at, end - at));
    at = text_[end - 1] == quote ? end + 1 : end;
  }
  text_ = changed_;
}

}  // namespace ecosort::csv
