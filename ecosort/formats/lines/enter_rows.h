// Enters the rows of a part of a run into its index: the loop over them, compiled for each format.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/prefetch.h"
#include "formats/lines/duplicate_filter.h"
#include "formats/lines/group_bounds.h"
#include "formats/lines/line_kernels.h"
#include "formats/lines/line_run.h"
#include "formats/lines/row_bound.h"
#include "formats/row_format.h"
#include "hash/multiset_hash.h"

namespace ecosort::lines {

struct Part {
  std::size_t begin = 0, end = 0;            // from a row on; afterwards, behind the last row that was taken
  std::size_t first_line = 0, end_line = 0;  // places in the index that its lines may take, counted from the first part's
  std::size_t lines = 0;
  std::size_t entered = 0;  // less than `lines` where some were seen before
  std::size_t longest = 0;
  std::uint64_t dropped_bytes = 0;
  hash::MultisetHash hash, dropped, beyond;  // of the lines, of those seen before, and of those behind the bound
  bool has_quotes = false;
  std::uint64_t blank_lines = 0, comments = 0;  // of `lines`, left out
  std::vector<formats::BadRow> bad_rows;        // likewise, besides `dropped`; from the beginning of the run
  bool is_last = false;                         // of its batch
  bool is_cut_wrong = false;                    // behind `end` quotes are open where they were thought to be closed
  std::uint64_t ends_inside = 0;                // terminators inside of quotes
  std::size_t header_rows = 0;                  // of `lines`, that equal the header
  std::size_t header_row = 0;                   // the first of them, from the beginning of the run
  std::vector<formats::KeyCounts> key_counts;   // none where the format does not count
  std::optional<formats::RowFault> fault;       // of the row at `end`, from the beginning of the run
};

// The sum of the hashes of so many lines.
inline void add(hash::MultisetHash& hash, LineHash sum, std::size_t lines = 1) noexcept {
  hash.low += sum.low;
  hash.high += sum.high;
  hash.count += lines;
}

// A line that is not entered, because it came before.
inline void drop(Part& part, Text line, LineHash hash) noexcept {
  add(part.dropped, hash);
  part.dropped_bytes += line.size() + 1;
}

// A line that is left out for what it is. Its number is not counted yet where it has several lines.
inline void leave_out(Part& part, Text line) noexcept {
  const LineHash hash = line_kernels().hash(line.data(), line.size());
  add(part.hash, hash);
  drop(part, line, hash);
  ++part.lines;
}

// A row that cannot be sorted, from the beginning of the run. False: no more of them are taken in this part.
inline bool leave_out_bad(const LineRun& run, Part& part, Text row, formats::RowFault fault) {
  add(part.hash, line_kernels().hash(row.data(), row.size()));
  part.dropped_bytes += row.size() + 1;
  ++part.lines;
  const auto begin = static_cast<std::size_t>(row.data() - run.bytes());
  formats::BadRow& bad = part.bad_rows.emplace_back(formats::BadRow{begin, begin + row.size() + 1, std::nullopt});
  if (part.bad_rows.size() <= formats::named_bad_rows) bad.fault = std::move(fault);
  return part.bad_rows.size() < formats::most_bad_rows;
}

inline constexpr std::size_t hashed_at_once = 32;  // rows

// A row that Framer::next() gave, with its hash where rows that came before are left out.
template <class Framer>
struct HashedRow {
  typename Framer::Row row;
  LineHash hash;
};

// Returns the bytes of a row that are hashed: its text, unless it says otherwise.
template <class Row>
Text hashed_bytes(const Row& row) noexcept {
  if constexpr (requires { row.hashed(); })
    return row.hashed();
  else
    return row.text;
}

// Hashes rows for a filter. Of all of them at once without one.
template <class Framer>
LineHash hash_rows(const LineKernels& kernels, std::span<HashedRow<Framer>> rows, const DuplicateFilter* seen) noexcept {
  if (seen == nullptr) {
    LinePlace lines[hashed_at_once];
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Text hashed = hashed_bytes(rows[i].row);
      lines[i] = {hashed.data(), hashed.size()};
    }
    return kernels.sum(lines, rows.size());
  }
  LineHash sum;
  for (auto& [row, hash] : rows) {
    hash = kernels.hash(row.text.data(), row.text.size());
    __builtin_prefetch(seen->place_of(hash.low), 1);
    sum.low += hash.low;
    sum.high += hash.high;
  }
  return sum;
}

// Adds the rows to the part, which has places for them. `seen` may be absent.
template <class Framer>
void enter_some(LineRun& run, const Framer& framer, Part& part, std::span<const HashedRow<Framer>> rows, DuplicateFilter* seen) {
  sorting::Entry* const top = run.top() - run.count - part.first_line;
  for (std::size_t i = 0; seen != nullptr && i < rows.size(); ++i) {
    const char* const alike = seen->alike(rows[i].hash.low, run.bytes());
    prefetch(alike);
    prefetch(alike + 64);
    prefetch(alike + rows[i].row.text.size());
  }
  for (const auto& [row, hash] : rows) {
    part.longest = std::max(part.longest, row.text.size() + 1);
    if (seen != nullptr && seen->has_or_note(hash.low, row.text, run.bytes())) {
      drop(part, row.text, hash);
    } else {
      const records::KeyWindow window = framer.window(row);
      *(top - 1 - part.entered) = {window.prefix, window.extension, static_cast<std::uint32_t>(row.text.data() - run.bytes())};
      ++part.entered;
    }
  }
  part.lines += rows.size();
}

// Leaves out the rows behind a bound of the run. The others, which are hashed apart, are the first ones of `rows` afterwards, as
// many as are returned.
template <class Framer, class Bound>
std::size_t leave_out_behind(const Bound& bound, const Framer& framer, Part& part, std::span<HashedRow<Framer>> rows) {
  LinePlace behind[hashed_at_once];
  std::size_t kept = 0, left_out = 0;
  for (HashedRow<Framer>& row : rows) {
    const Text text = row.row.text;
    if (!bound.is_behind(framer.window(row.row), text)) {
      rows[kept++] = row;
      continue;
    }
    behind[left_out++] = {text.data(), text.size()};
    part.dropped_bytes += text.size() + 1;
  }
  if (left_out == 0) return kept;
  const LineHash sum = line_kernels().sum(behind, left_out);
  add(part.beyond, sum, left_out);
  add(part.hash, sum, left_out);
  part.lines += left_out;
  return kept;
}

// Ends early where the places of the part do; the last ones stay empty where rows were seen before. Rows are hashed some at a
// time, so that what is known of each comes from memory while the others are hashed.
//
// A Framer gives the rows of the part in their order, each as a Framer::Row with its text: next(rows, most) as many as it may, 0
// at the end; end() is behind the last one that it gave.
template <class Framer>
void enter_rows(LineRun& run, Framer& framer, Part& part, DuplicateFilter* known) {
  const LineKernels& kernels = line_kernels();
  const std::size_t places = part.end_line - part.first_line;
  HashedRow<Framer> rows[hashed_at_once];
  while (part.entered < places) {
    DuplicateFilter* const seen = known != nullptr && known->is_worth_it() ? known : nullptr;
    std::size_t count = framer.next(rows, std::min(hashed_at_once, places - part.entered));
    if (count == 0) break;
    if (run.bound && !run.keys_follow) count = leave_out_behind<Framer>(*run.bound, framer, part, {rows, count});
    if (run.group_bounds) count = leave_out_behind<Framer>(*run.group_bounds, framer, part, {rows, count});
    add(part.hash, hash_rows<Framer>(kernels, {rows, count}, seen), count);
    enter_some<Framer>(run, framer, part, {rows, count}, seen);
  }
  part.end = framer.end();
}

}  // namespace ecosort::lines
