#include "engine/rows/long_row.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "formats/lines/pass_quotes.h"
#include "io/plain_file.h"

namespace ecosort::engine::rows {

// A merge takes rows of a quarter of what the plan has, of which coders and a header may leave three quarters.
std::uint64_t memory_for_row(std::uint64_t row_bytes) noexcept {
  constexpr std::uint64_t share = 6, blocks = std::uint64_t{4} << 20U;
  return share * row_bytes + blocks;
}

std::uint64_t memory_for_row(const std::string& name, std::uint64_t offset, const formats::RowFormat& format) {
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30U;
  if (format.begins_anew() || format.record_marks() != nullptr) return 0;
  std::vector<char> block(std::size_t{1} << 20U);
  try {
    io::PlainFile file = io::PlainFile::open_for_reading(name);
    formats::Inside inside;
    for (std::uint64_t done = 0; done < most_bytes;) {
      const std::size_t got = file.read_at(offset + done, std::as_writable_bytes(std::span(block)));
      const char* const end = format.find_end(block.data(), block.data() + got, inside);
      if (end != nullptr) return memory_for_row(done + static_cast<std::uint64_t>(end - block.data()) + 1);
      done += got;
      if (got < block.size()) return memory_for_row(done + 1);
    }
  } catch (const Error&) {
    return 0;  // the line is about what was wrong before
  }
  return 0;
}

namespace {

// Returns where the quote is that closes a value within which the bytes begin; their end: none does.
std::size_t find_close(Text bytes, const formats::RowFormat& format, formats::Inside& inside) {
  std::size_t at = std::exchange(inside.escape, false) ? 1 : 0, quote = 0;
  while (at < bytes.size()) {
    if (quote < at || at == 0) quote = std::min(bytes.find(*format.quote(), at), bytes.size());
    const std::size_t escape = format.escape() ? bytes.substr(0, quote).find(*format.escape(), at) : Text::npos;
    if (escape == Text::npos) return quote;
    at = escape + 2;  // what is escaped is passed over
  }
  inside.escape = at > bytes.size();
  return bytes.size();
}

enum class Found : std::uint8_t { a_row, no_row, nothing_yet };

// Looks at the rest of a row, from the quote that closes a value on: what lies within that value makes no difference.
Found look_behind(Text rest, bool is_all, const formats::RowFormat& format, formats::Inside& inside) {
  std::string row = *format.quote() + std::string(rest);
  inside = {};
  const char* const end = format.find_end(row.data(), row.data() + row.size(), inside);
  if (end != nullptr) row.resize(static_cast<std::size_t>(end - row.data()));
  const bool is_whole = end != nullptr || is_all;
  if (const auto fault = format.fault_in(row, is_whole)) return fault->is_of_quotes ? Found::no_row : Found::a_row;
  if (is_whole) return Found::a_row;
  inside = {};
  lines::pass_quotes(format, row, inside);
  return inside.quotes ? Found::nothing_yet : Found::a_row;
}

bool is_closed_well(io::PlainFile& file, std::uint64_t at, formats::Inside inside, const formats::RowFormat& format,
                    const std::atomic<int>& interrupted) {
  std::vector<char> block(std::size_t{1} << 20U);
  while (const std::size_t got = file.read_at(at, std::as_writable_bytes(std::span(block)))) {
    if (const int signal_number = interrupted.load(); signal_number != 0) throw Interrupted(signal_number);
    const Text bytes(block.data(), got);
    const std::size_t close = find_close(bytes, format, inside);
    const bool is_all = got < block.size();
    if (close > 0 && close < got && !is_all) {
      at += close;  // the next block begins with it, so that it holds what follows
      continue;
    }
    const Found found = close == got ? Found::nothing_yet : look_behind(bytes.substr(close), is_all, format, inside);
    if (found != Found::nothing_yet) return found == Found::a_row;
    at += got;
  }
  return false;
}

}  // namespace

std::optional<formats::RowFault> fault_of_open_quote(const std::string& name, std::uint64_t offset, Text beginning,
                                                     const formats::RowFormat& format, const std::atomic<int>& interrupted) {
  formats::Inside inside;
  if (format.is_walked()) lines::pass_quotes(format, beginning, inside);
  if (!inside.quotes) return std::nullopt;
  try {
    io::PlainFile file = io::PlainFile::open_for_reading(name == "-" ? "/dev/stdin" : name);
    if (!is_closed_well(file, offset + beginning.size(), inside, format, interrupted)) return format.fault_in(beginning, true);
  } catch (const Error&) {
    return std::nullopt;  // the line is about what was wrong before
  }
  return std::nullopt;
}

}  // namespace ecosort::engine::rows
