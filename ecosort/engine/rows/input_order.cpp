#include "engine/rows/input_order.h"

#include <algorithm>
#include <cstring>

#include "sorting/find_descent.h"
#include "sorting/range_sort.h"

namespace ecosort::engine::rows {
namespace {

using sorting::Entry;

// Rows of a run as they came. In a batch without gaps a row ends where the next one begins: its end is not searched.
struct Rows {
  const lines::LineRun& run;
  const formats::RowFormat& format;
  std::size_t first_close = SIZE_MAX;  // of such a batch, and where its last row ends
  std::size_t end_byte = 0;
  bool rows_are_keys = format.key_bytes(0) == formats::KeyBytes::of_row;  // then to compare them is the shortest way

  [[nodiscard]] Text text(std::size_t row) const {
    const Entry& entry = row_entry(run, row);
    if (row < first_close) return run.line(entry);
    const std::size_t end = row + 1 == run.count ? end_byte : row_entry(run, row + 1).index;
    return {run.bytes() + entry.index, end - 1 - entry.index};
  }

  // Returns whether the row does not come before the one in front of it.
  [[nodiscard]] bool ascends(std::size_t row) const {
    const Entry &before = row_entry(run, row - 1), &present = row_entry(run, row);
    if (!sorting::key_equal(before, present)) return sorting::key_less(before, present);
    if (rows_are_keys) return format.compare(text(row - 1), text(row)) <= 0;
    unsigned level = 0;
    return lines::tie_is_decided(format, {present.prefix, present.extension}, level) ||
           format.compare(text(row - 1), text(row), level) <= 0;
  }
};

}  // namespace

void keep_rows(lines::LineRun& run, std::size_t first, std::size_t end, std::uint64_t line_bytes) noexcept {
  std::memmove(run.top() - (end - first), run.top() - end, (end - first) * sizeof(Entry));
  run.count = end - first;
  run.line_bytes = line_bytes;
}

void BufferOrder::add(const lines::LineRun& run, const formats::RowFormat& format, const lines::Indexed& batch,
                      std::size_t before, std::size_t from, std::optional<Origin> origin, unsigned threads) {
  if (run.count == before) return;
  longest_ = std::max(longest_, batch.longest);
  const bool has_gaps = batch.entered != batch.lines;
  if (ordered_ == before) {
    const Rows rows{run, format, has_gaps ? SIZE_MAX : before, batch.end};
    ordered_ = sorting::find_descent(std::max<std::size_t>(before, 1), run.count, threads,
                                     [&rows](std::size_t row) { return rows.ascends(row); });
  }
  if (!origin || has_gaps) return;
  const bool goes_on = !pieces_.empty() && pieces_.back().end == before && pieces_.back().end_byte == from &&
                       pieces_.back().origin.input == origin->input;
  if (!goes_on) pieces_.push_back({before, before, from, from, *origin});
  pieces_.back().end = run.count;
  pieces_.back().end_byte = batch.end;
}

OrderedRows BufferOrder::part_of(const lines::LineRun& run, const Piece& piece, std::size_t first, std::size_t end) {
  OrderedRows rows{first, end, piece.origin.input};
  rows.begin = row_entry(run, first).index;
  rows.size = (end == piece.end ? piece.end_byte : row_entry(run, end).index) - rows.begin;
  rows.offset = piece.origin.offset + (rows.begin - piece.begin_byte);
  return rows;
}

std::optional<OrderedRows> BufferOrder::beginning(const lines::LineRun& run) const {
  if (pieces_.empty() || pieces_.front().first > 0) return std::nullopt;
  return part_of(run, pieces_.front(), 0, std::min(ordered_, pieces_.front().end));
}

std::optional<OrderedRows> BufferOrder::ending(const lines::LineRun& run, const formats::RowFormat& format,
                                               std::size_t from) const {
  if (pieces_.empty() || pieces_.back().end < run.count) return std::nullopt;
  const std::size_t least = std::max(from, pieces_.back().first);
  if (least >= run.count) return std::nullopt;
  std::size_t first = run.count - 1;
  for (const Rows rows{run, format}; first > least && rows.ascends(first);) --first;
  return part_of(run, pieces_.back(), first, run.count);
}

}  // namespace ecosort::engine::rows
