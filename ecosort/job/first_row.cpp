#include "job/first_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "base/errors.h"
#include "base/size_text.h"
#include "io/plain_file.h"

namespace ecosort::job {

namespace {

constexpr std::size_t first_bytes = std::size_t{64} << 10U, most_first_bytes = std::size_t{1} << 20U;

std::string beginning_of(const std::string& name, std::size_t bytes) {
  std::string text(bytes, '\0');
  io::PlainFile file = io::PlainFile::open_for_reading(name);
  text.resize(file.read_at(0, std::as_writable_bytes(std::span(text))));
  return text;
}

struct Look {
  std::optional<std::string> row;  // nothing where the file holds none
  bool is_too_long = false;
};

// At the row behind the mark.
Look look_at_first_row(const std::string& name, const formats::RowFormat& format, std::size_t mark_bytes) {
  for (std::size_t bytes = first_bytes; bytes <= most_first_bytes; bytes *= 4) {
    const std::string text = beginning_of(name, bytes);
    const char *const begin = text.data() + std::min(mark_bytes, text.size()), *const end = text.data() + text.size();
    formats::Inside inside;
    const char* row_end = format.find_end(begin, end, inside);
    if (row_end != nullptr && format.precedes_first_row({begin, static_cast<std::size_t>(row_end - begin)}))
      row_end = format.find_end(row_end + 1, end, inside);
    if (row_end != nullptr) return {std::string(begin, row_end)};
    if (text.size() == bytes) continue;
    if (begin == end) return {};
    const std::string_view rest(begin, static_cast<std::size_t>(end - begin)), line = rest.substr(0, rest.find('\n'));
    const bool has_no_row = line.size() + 1 == rest.size() && format.precedes_first_row(line);
    return {std::string(has_no_row ? line : rest)};
  }
  return {.row = std::nullopt, .is_too_long = true};
}

std::optional<std::string> first_row_of(const std::string& name, const formats::RowFormat& format, std::size_t mark_bytes) {
  Look look = look_at_first_row(name, format, mark_bytes);
  if (!look.is_too_long) return std::move(look.row);
  throw UsageError(fmt::format("{}: the first row is longer than {}, the most that a resumable sort keeps in its journal", name,
                               format_bytes(most_first_bytes)));
}

// Returns how many bytes of a mark come first.
std::size_t begin_input(const std::string& name, formats::RowFormat& format) {
  const std::size_t mark_bytes = format.mark_bytes(beginning_of(name, formats::RowFormat::most_mark_bytes));
  format.begin_input();
  return mark_bytes;
}

}  // namespace

InputHead find_first_row(const std::vector<engine::rows::LineInput>& inputs, formats::RowFormat& format) {
  InputHead first;
  std::string before;  // a line of an input without rows that says how to read the others
  for (const engine::rows::LineInput& input : inputs) {
    const std::size_t mark_bytes = begin_input(input.name, format);
    if (&input == &inputs.front()) first.mark_bytes = mark_bytes;
    const bool must_know = format.wants_first_row() && format.keys_need_first_row();
    if (!must_know) break;
    first.row = first_row_of(input.name, format, mark_bytes);
    if (first.row && format.precedes_first_row(*first.row)) before = std::exchange(first.row, std::nullopt).value() + '\n';
    if (first.row) {
      if (!format.precedes_first_row(std::string_view(*first.row).substr(0, first.row->find('\n')))) first.row->insert(0, before);
      break;
    }
    format.miss_first_row(formats::shown_name(input.name));
  }
  return first;
}

void check_first_row(const std::vector<engine::rows::LineInput>& inputs, formats::RowFormat& format) {
  if (inputs.empty() || inputs.front().is_stream()) return;
  const std::string& name = inputs.front().name;
  const std::size_t mark_bytes = begin_input(name, format);
  if (!format.wants_first_row()) return;
  const Look look = look_at_first_row(name, format, mark_bytes);
  if (look.is_too_long) return;
  if (look.row)
    (void)format.take_first_row(formats::shown_name(name), *look.row);
  else
    format.miss_first_row(formats::shown_name(name));
}

}  // namespace ecosort::job
