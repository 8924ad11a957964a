// Counts quotes by the kernels of lines, which the header of all formats does not know.
#include <algorithm>
#include <utility>

#include "formats/lines/line_kernels.h"
#include "formats/row_format.h"

void ecosort::formats::RowFormat::pass(Text text, Inside& inside) const noexcept {
  while (!text.empty()) {
    if (std::exchange(inside.escape, false)) text.remove_prefix(1);
    const std::size_t escape = escape_ ? std::min(text.find(*escape_), text.size()) : text.size();
    if (quote_ && lines::line_kernels().count(text.data(), escape, *quote_) % 2 != 0) inside.quotes = !inside.quotes;
    inside.escape = escape < text.size();
    text.remove_prefix(escape + (inside.escape ? 1 : 0));
  }
}
