#include "engine/rows/first_rows.h"

#include <fmt/format.h>

#include <utility>

#include "base/errors.h"
#include "base/size_text.h"
#include "engine/rows/damaged_input.h"
#include "formats/keys/key_words.h"
#include "formats/lines/line_run.h"

namespace ecosort::engine::rows {
namespace {

constexpr const char* same_header = "the headers of all files must be alike";

// A fault in it may be due to damage, as with any other row.
formats::FirstRow take_or_refuse(formats::RowFormat& format, const std::string& input, Text row) {
  try {
    return format.take_first_row(input, row);
  } catch (const UsageError& error) {
    throw RefusedRow(error);
  }
}

}  // namespace

void FirstRows::keep(Text bytes) {
  if (top_.size() + bytes.size() > most_bytes_)
    throw NotEnoughMemory(
        fmt::format("the header's lines are longer than {} in all, a 16th of the memory", format_bytes(most_bytes_)),
        memory_bytes_);
  top_.append(bytes);
}

std::size_t FirstRows::take_mark(Text first) {
  const std::size_t bytes = format_.mark_bytes(first);
  if (!std::exchange(has_begun_, true)) keep(first.substr(0, bytes));
  return bytes;
}

// The rows of the first input go on top.
formats::FirstRow FirstRows::take_alike(const std::string& input, Text row) {
  if (knows_header_) {
    compare(input, row);
    return formats::FirstRow::is_left_out;
  }
  header_input_ = input;
  header_bytes_ += row.size() + 1;
  knows_header_ = !format_.wants_first_row();
  return formats::FirstRow::goes_on_top;
}

Text FirstRows::rest_of_header() const noexcept {
  const Text header = header_bytes_ > 0 ? Text(top_).substr(top_.size() - header_bytes_) : Text(header_);
  return header.substr(compared_);
}

Text FirstRows::header_line() const noexcept {
  const Text rest = rest_of_header();
  return rest.substr(0, rest.find(format_.terminator()));
}

void FirstRows::compare(const std::string& input, Text row) {
  if (rest_of_header().empty())
    throw RefusedRow(fmt::format("{}: '{}' is in the header, and {} has no such line; {}", input, keys::shown(row), header_input_,
                                 same_header));
  if (header_line() != row)
    throw RefusedRow(fmt::format("{}: '{}' is in the header, where {} has '{}'; {}", input, keys::shown(row), header_input_,
                                 keys::shown(header_line()), same_header));
  compared_ += row.size() + 1;
}

void FirstRows::miss(const std::string& input) {
  format_.miss_first_row(input);
  end_header(input, "ends");
}

void FirstRows::end_header(const std::string& input, const char* ends) {
  if (!knows_header_) {
    header_input_ = input;
    knows_header_ = true;
    return;
  }
  if (rest_of_header().empty()) return;
  throw InputRefused(fmt::format("{}: {} where the header of {} has '{}'; {}", input, ends, header_input_,
                                 keys::shown(header_line()), same_header));
}

void FirstRows::compare_with(const std::string& input, const std::string& text) {
  header_input_ = input;
  header_ = text;
  knows_header_ = true;
}

formats::FirstRow FirstRows::take(const std::string& input, Text row) {
  formats::FirstRow use = take_or_refuse(format_, input, row);
  if (use == formats::FirstRow::is_alike) use = take_alike(input, row);
  if (use == formats::FirstRow::is_sorted) end_header(input, "its header ends");
  if (use == formats::FirstRow::goes_on_top && !is_first_ && !format_.precedes_first_row(row))
    use = formats::FirstRow::is_comment;  // no input before has rows
  if (use != formats::FirstRow::goes_on_top) return use;
  const char terminator = format_.terminator();
  keep(row);
  keep({&terminator, 1});
  lines::add_line(hash_, row);
  return use;
}

void FirstRows::put_on_top(const std::string& text) {
  keep(text);
  const char* at = text.data() + format_.mark_bytes(text);
  const char* const end = text.data() + text.size();
  for (formats::Inside inside; at < end;) {
    const char* const found = format_.find_end(at, end, inside);
    const char* const row_end = found != nullptr ? found : end;
    lines::add_line(hash_, {at, static_cast<std::size_t>(row_end - at)});
    at = found != nullptr ? found + 1 : end;
  }
}

}  // namespace ecosort::engine::rows
