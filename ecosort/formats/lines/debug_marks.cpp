#include "formats/lines/debug_marks.h"

#include <algorithm>

#include "formats/lines/general_number.h"
#include "formats/lines/numbers.h"

namespace ecosort::lines {
namespace {

// The part that counts of a key without blanks in front.
Text meaning_of(Text text, KeyKind kind) {
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
    case KeyKind::collated:
      break;
  }
  return text;
}

bool is_looked_for(KeyKind kind) {
  return kind != KeyKind::text && kind != KeyKind::version && kind != KeyKind::random && kind != KeyKind::collated;
}

// Blanks at the beginning of a line are passed over up to the end of the key only, so that a key which ends among them is marked
// there. Where any other key ends before it begins, sort looks for its number behind the blanks there all the same.
Text marked_part(Text line, const LineOrder& order, unsigned level) {
  const SortKey& key = order.key(level);
  const bool from_line_begin = key.begin_field == 0 && key.begin_char == 0;
  const std::size_t end = order.key_end(line, level);
  std::size_t begin = from_line_begin ? 0 : order.key_begin(line, level);
  const std::size_t last_blank = begin <= end ? end : line.size();
  if ((from_line_begin && key.skip_begin_blanks) || is_looked_for(key.kind))
    while (begin < last_blank && is_blank(line[begin])) ++begin;
  const Text text = line.substr(begin, std::max(begin, end) - begin);
  return is_looked_for(key.kind) ? meaning_of(text, key.kind) : text;
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
