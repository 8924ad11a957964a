#include "lines/debug_marks.h"

#include <algorithm>

#include "lines/general_number.h"
#include "lines/numbers.h"

namespace ecosort::lines {
namespace {

// The part that counts of a key whose blanks in front do not.
Text meaning_of(Text text, KeyKind kind) {
  text = without_leading_blanks(text);
  switch (kind) {
    case KeyKind::month:
      return text.substr(0, month_of(text) == 0 ? 0 : 3);
    case KeyKind::general:
      return text.substr(0, general_length(text));
    case KeyKind::numeric:
      return text.substr(0, decimal_length(text));
    case KeyKind::human:
      return text.substr(0, decimal_length(text) + (has_unit(text) ? 1 : 0));
    case KeyKind::text:
    case KeyKind::version:
    case KeyKind::random:
      break;
  }
  return text;
}

Text marked_part(Text line, const LineOrder& order, unsigned level) {
  const SortKey& key = order.key(level);
  const Text text = order.key_text(line, level);
  if (key.kind == KeyKind::text || key.kind == KeyKind::version || key.kind == KeyKind::random) return text;
  // Where a key ends before it begins, sort looks for its number behind the blanks there all the same.
  if (order.ends_before_it_begins(line, level)) {
    const auto begin = static_cast<std::size_t>(text.data() - line.data());
    return without_leading_blanks(line.substr(begin)).substr(0, 0);
  }
  return meaning_of(text, key.kind);
}

std::size_t columns(Text text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return c == '\t' || (byte >= ' ' && byte != 0x7f);
  }));
}

}  // namespace

void append_marked(Text line, const LineOrder& order, std::string& to) {
  const std::size_t begin = to.size();
  to += line;
  std::replace(to.begin() + static_cast<std::ptrdiff_t>(begin), to.end(), '\t', '>');
  to += '\n';
  for (unsigned level = 0; level < order.levels(); ++level) {
    const Text part = marked_part(line, order, level);
    to.append(columns({line.data(), part.data()}), ' ');
    const std::size_t width = columns(part);
    if (width == 0)
      to += "^ no match for key";
    else
      to.append(width, '_');
    to += '\n';
  }
}

}  // namespace ecosort::lines
