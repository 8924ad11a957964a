#include "formats/lines/pass_quotes.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "formats/lines/line_kernels.h"

namespace ecosort::lines {

void pass_quotes(const formats::RowFormat& format, Text text, formats::Inside& inside) noexcept {
  const std::optional<char> quote = format.quote(), escape = format.escape();
  while (!text.empty()) {
    if (std::exchange(inside.escape, false)) text.remove_prefix(1);
    const std::size_t end = escape ? std::min(text.find(*escape), text.size()) : text.size();
    if (quote && line_kernels().count(text.data(), end, *quote) % 2 != 0) inside.quotes = !inside.quotes;
    inside.escape = end < text.size();
    text.remove_prefix(end + (inside.escape ? 1 : 0));
  }
}

}  // namespace ecosort::lines
