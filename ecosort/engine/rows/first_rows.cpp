#include "engine/rows/first_rows.h"

#include <fmt/format.h>

#include <utility>

#include "base/errors.h"
#include "base/size_text.h"
#include "engine/rows/damaged_input.h"
#include "formats/lines/line_run.h"

namespace ecosort::lines {
namespace {

// What is wrong with it may be due to damage, as with any other row.
rows::FirstRow take_or_refuse(rows::RowFormat& format, const std::string& input, rows::Text row) {
  try {
    return format.take_first_row(input, row);
  } catch (const UsageError& error) {
    throw RefusedRow(error);
  }
}

}  // namespace

void FirstRows::keep(rows::Text bytes) {
  if (top_.size() + bytes.size() > most_bytes_)
    throw NotEnoughMemory(
        fmt::format("the header's lines are longer than {} in all, a 16th of the memory", format_bytes(most_bytes_)),
        memory_bytes_);
  top_.append(bytes);
}

std::size_t FirstRows::take_mark(rows::Text first) {
  const std::size_t bytes = format_.mark_bytes(first);
  if (!std::exchange(has_begun_, true)) keep(first.substr(0, bytes));
  return bytes;
}

rows::FirstRow FirstRows::take(const std::string& input, rows::Text row) {
  const rows::FirstRow use = take_or_refuse(format_, input, row);
  if (use != rows::FirstRow::goes_on_top) return use;
  const char terminator = format_.terminator();
  keep(row);
  keep({&terminator, 1});
  add_line(hash_, row);
  return use;
}

void FirstRows::put_on_top(const std::string& text) {
  keep(text);
  const char* at = text.data() + format_.mark_bytes(text);
  const char* const end = text.data() + text.size();
  for (bool is_inside = false; at < end;) {
    const char* const found = format_.find_end(at, end, is_inside);
    const char* const row_end = found != nullptr ? found : end;
    add_line(hash_, {at, static_cast<std::size_t>(row_end - at)});
    at = found != nullptr ? found + 1 : end;
  }
}

}  // namespace ecosort::lines
