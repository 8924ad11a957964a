#include "formats/csv/value.h"

namespace ecosort::csv {

void Value::unquote(char quote) {
  text_ = text_.substr(1, text_.size() - 2);
  if (text_.find(quote) == Text::npos) return;
  changed_.reserve(text_.size());
  for (std::size_t i = 0; i < text_.size(); ++i) {
    if (text_[i] == quote) ++i;
    changed_.push_back(text_[i]);
  }
  text_ = changed_;
}

}  // namespace ecosort::csv
