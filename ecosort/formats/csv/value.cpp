#include "formats/csv/value.h"

#include <algorithm>

namespace ecosort::csv {
namespace {

char unescaped(char c) noexcept {
  switch (c) {
    case '0':
      return '\0';
    case 'b':
      return '\b';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'Z':
      return '\x1a';
    default:
      return c;
  }
}

// Returns where the next quote or escape is, or the end.
std::size_t next_mark(Text text, std::size_t at, Dialect dialect) noexcept {
  if (!dialect.escape) return std::min(text.find(*dialect.quote, at), text.size());
  while (at < text.size() && text[at] != dialect.quote && text[at] != *dialect.escape) ++at;
  return at;
}

}  // namespace

// A quote within quotes is there twice.
void CsvValue::change(Dialect dialect) {
  if (dialect.quote && text_.starts_with(*dialect.quote))
    text_ = text_.substr(1, text_.size() - 2);
  else if (text_.size() == 2 && text_[0] == dialect.escape && text_[1] == 'N')
    text_ = {};
  std::size_t mark = next_mark(text_, 0, dialect);
  if (mark == text_.size()) return;
  changed_.reserve(text_.size());
  for (std::size_t at = 0; at < text_.size(); mark = next_mark(text_, at, dialect)) {
    changed_.append(text_.substr(at, mark - at));
    at = std::min(mark + 2, text_.size());
    if (mark + 1 < text_.size()) changed_ += text_[mark] == dialect.escape ? unescaped(text_[mark + 1]) : text_[mark];
  }
  text_ = changed_;
}

}  // namespace ecosort::csv
