#include "formats/lines/index_lines.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/prefetch.h"
#include "formats/lines/enter_rows.h"
#include "formats/lines/line_kernels.h"
#include "formats/lines/pass_quotes.h"
#include "sorting/parallel_parts.h"
#include "sorting/radix_digit.h"

namespace ecosort::lines {
namespace {

using formats::RowFormat;
using sorting::Entry;

constexpr std::size_t least_part_bytes = std::size_t{32} * 1024;

// Returns where a row ends in [from, end), from a place where quotes are open or not; `end` where none does.
std::size_t row_end(const LineRun& run, const RowFormat& format, std::size_t from, std::size_t end, formats::Inside inside) {
  const char* const found = format.find_end(run.bytes() + from, run.bytes() + end, inside);
  return found == nullptr ? end : static_cast<std::size_t>(found - run.bytes()) + 1;
}

// Returns whether quotes are open at each of the places, which ascend from a row's beginning on, none of them behind an escape.
std::vector<formats::Inside> open_quotes(const LineRun& run, const RowFormat& format, const std::vector<std::size_t>& places,
                                         unsigned threads) {
  std::vector<formats::Inside> inside(places.size());
  if (!format.is_walked() || format.begins_anew()) return inside;
  sorting::for_each_part(threads, places.size() - 1, [&](std::size_t i) {
    pass_quotes(format, {run.bytes() + places[i], places[i + 1] - places[i]}, inside[i + 1]);
  });
  for (std::size_t i = 1; i < inside.size(); ++i) inside[i].quotes = inside[i].quotes != inside[i - 1].quotes;
  return inside;
}

// Returns the place, or the nearest one in front of it that is behind no escape.
std::size_t before_escapes(const LineRun& run, const RowFormat& format, std::size_t begin, std::size_t place) {
  while (format.escape() && place > begin && run.bytes()[place - 1] == *format.escape()) --place;
  return place;
}

// Cuts [begin, end) into parts that begin with a row. The last one may have a part of a row at its end.
std::vector<Part> cut(const LineRun& run, const RowFormat& format, std::size_t begin, std::size_t end, std::size_t parts,
                      unsigned threads) {
  std::vector<std::size_t> places{begin};  // one byte before the nominal borders: a row may begin there
  for (std::size_t i = 1; i < parts; ++i)
    places.push_back(before_escapes(run, format, begin, std::max(begin, begin + (end - begin) / parts * i - 1)));
  const std::vector<formats::Inside> inside = open_quotes(run, format, places, threads);
  std::vector<Part> result;
  for (std::size_t i = 0; i < parts && begin < end; ++i) {
    const bool is_last = i + 1 == parts;
    const std::size_t part_end = is_last ? end : row_end(run, format, places[i + 1], end, inside[i + 1]);
    if (part_end <= begin) continue;
    Part& part = result.emplace_back();
    part.begin = begin;
    part.end = begin = part_end;
  }
  if (!result.empty()) result.back().is_last = true;
  return result;
}

// Places as there were lines in as many bytes before, and a quarter more: the bytes need not be read twice. False if that is too
// many, or nothing is known yet.
bool suppose_places(const LineRun& run, std::vector<Part>& parts, std::size_t most) {
  constexpr std::size_t least_lines = 1000, some_more = 64;
  if (run.count < least_lines) return false;
  const std::uint64_t average = std::max<std::uint64_t>(run.line_bytes / run.count, 1);
  std::size_t places = 0;
  for (Part& part : parts) {
    part.first_line = places;
    places += (part.end - part.begin) / average * 5 / 4 + some_more;
    part.end_line = places;
  }
  return places <= most;
}

void count_places(const LineRun& run, std::vector<Part>& parts, std::size_t most, unsigned threads) {
  std::vector<std::size_t> lines(parts.size(), most);
  if (parts.size() > 1) {
    sorting::for_each_part(threads, parts.size(), [&](std::size_t i) {
      lines[i] = line_kernels().count(run.bytes() + parts[i].begin, parts[i].end - parts[i].begin, run.terminator);
    });
  }
  std::size_t places = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts[i].first_line = places;
    places = std::min(places + lines[i], most);
    parts[i].end_line = places;
  }
}

void enter_parts(LineRun& run, const RowFormat& order, std::vector<Part>& parts, unsigned threads,
                 std::vector<DuplicateFilter>& seen) {
  sorting::for_each_part(threads, parts.size(),
                         [&](std::size_t i) { order.enter(run, parts[i], i < seen.size() ? &seen[i] : nullptr); });
  for (const Part& part : parts) run.has_quotes |= part.has_quotes;
}

// Leaves out of the later parts what the first set knows, and notes the rest there: after some time it knows the lines of all
// threads, and a line that each of them has met is sorted once.
void drop_known_elsewhere(const LineRun& run, std::vector<Part>& parts, DuplicateFilter& all) {
  const LineKernels& kernels = line_kernels();
  for (std::size_t i = 1; i < parts.size() && all.is_worth_it(); ++i) {
    Part& part = parts[i];
    Entry* const top = run.top() - run.count - part.first_line;
    std::size_t kept = 0;
    for (std::size_t j = 0; j < part.entered; ++j) {
      const Entry entry = *(top - 1 - j);
      const Text text = run.line(entry);
      const LineHash hash = kernels.hash(text.data(), text.size());
      if (all.has_or_note(hash.low, text, run.bytes())) {
        drop(part, text, hash);
      } else {
        *(top - 1 - kept++) = entry;
      }
    }
    part.entered = kept;
  }
}

// Takes the parts up to the first one that had too few places, or a row that cannot be sorted, and moves their entries together.
// False where some were not taken.
bool close_gaps(LineRun& run, std::vector<Part>& parts, Indexed& result) {
  Entry* const top = run.top() - run.count;
  std::size_t entered = 0, taken = 0;
  for (Part& part : parts) {
    if (part.begin != result.end || result.fault || result.bad_rows.size() >= formats::most_bad_rows) break;
    ++taken;
    const std::size_t gap = part.first_line - entered;
    if (gap > 0) std::copy_backward(top - part.first_line - part.entered, top - part.first_line, top - entered);
    entered += part.entered;
    result.lines += part.lines;
    result.end = part.end;
    result.longest = std::max(result.longest, part.longest);
    result.hash += part.hash;
    result.dropped += part.dropped;
    result.beyond += part.beyond;
    result.dropped_bytes += part.dropped_bytes;
    result.blank_lines += part.blank_lines;
    result.comments += part.comments;
    std::ranges::move(part.bad_rows, std::back_inserter(result.bad_rows));
    result.ends_inside += part.ends_inside;
    if (result.header_rows == 0) result.header_row = part.header_row;
    result.header_rows += part.header_rows;
    formats::add(result.key_counts, part.key_counts);
    result.fault = part.fault;
  }
  run.count += entered;
  result.entered += entered;
  return taken == parts.size();
}

}  // namespace

void add_line(hash::MultisetHash& hash, Text line) noexcept { add(hash, line_kernels().hash(line.data(), line.size())); }

Indexed index_lines(LineRun& run, const RowFormat& order, std::size_t begin, std::size_t end, std::size_t most, unsigned threads,
                    std::vector<DuplicateFilter>& seen) {
  Indexed result;
  result.end = begin;
  run.present = end;
  if (!order.is_walked()) {  // else the last part shows where the last row ends
    const void* last = end > begin ? memrchr(run.bytes() + begin, run.terminator, end - begin) : nullptr;
    if (last == nullptr) return result;
    end = static_cast<std::size_t>(static_cast<const char*>(last) - run.bytes()) + 1;
  }
  bool may_suppose = true, is_cut_wrong = false;
  for (std::size_t before = SIZE_MAX; result.end < end && result.lines < most && result.lines != before && !result.fault &&
                                      result.bad_rows.size() < formats::most_bad_rows;
       may_suppose = false) {
    before = result.lines;
    const bool is_one = is_cut_wrong || order.begins_anew();  // part: nothing would show where others begin
    const std::size_t wanted = is_one ? 1 : std::clamp<std::size_t>((end - result.end) / least_part_bytes, 1, threads);
    std::vector<Part> parts = cut(run, order, result.end, end, wanted, threads);
    if (!may_suppose || !suppose_places(run, parts, most)) count_places(run, parts, most - result.lines, threads);
    enter_parts(run, order, parts, threads, seen);
    is_cut_wrong |= std::ranges::any_of(parts, &Part::is_cut_wrong);
    if (!seen.empty()) drop_known_elsewhere(run, parts, seen.front());
    if (!close_gaps(run, parts, result))
      for (DuplicateFilter& lines : seen)
        lines.forget();  // of parts that were not taken: their lines would be dropped the next time
  }
  return result;
}

bool tie_is_decided(const RowFormat& order, records::KeyWindow window, unsigned& level) noexcept {
  level = order.behind_first(window).level;
  return level == order.levels();
}

int compare_entries(const LineRun& run, const RowFormat& order, const Entry& a, const Entry& b) {
  if (!sorting::key_equal(a, b)) return sorting::key_less(a, b) ? -1 : 1;
  unsigned level = 0;
  return tie_is_decided(order, {b.prefix, b.extension}, level) ? 0 : order.compare(run.line(a), run.line(b), level);
}

namespace {

// Returns whether the entry is of the group that begins with the first one.
bool is_of_group(const LineRun& run, const RowFormat& order, const Entry& first, const Entry& entry) {
  constexpr int in_another_place = 1;
  if (order.groups_by_all()) return compare_entries(run, order, first, entry) == 0;
  return order.are_grouped(in_another_place, run.line(first), run.line(entry));
}

// Returns where the group ends that begins with entry `begin`. Of a large group few rows are looked at, because the group is a
// range: its end lies between two of them, of which one is twice as far away as the other.
std::size_t group_end(const LineRun& run, const RowFormat& order, std::size_t begin) {
  const Entry* const entries = run.entries();
  const auto is_inside = [&](const Entry& entry) { return is_of_group(run, order, entries[begin], entry); };
  std::size_t inside = begin, step = 1;
  while (inside + step < run.count && is_inside(entries[inside + step])) {
    inside += step;
    step *= 2;
  }
  const Entry* const end = entries + std::min(inside + step, run.count);
  return static_cast<std::size_t>(std::partition_point(entries + inside + 1, end, is_inside) - entries);
}

// Rows with equal windows are compared, and lie all over the memory.
void fetch_to_compare(const LineRun& run, std::size_t at) {
  constexpr std::size_t cache_line = 64;
  const Entry* const entries = run.entries();
  if (at >= run.count || !sorting::key_equal(entries[at - 1], entries[at])) return;
  const char* const row = run.bytes() + entries[at].index;
  prefetch(row);
  prefetch(row + cache_line);
}

void drop_line(LineRun& run, const Entry& entry, hash::MultisetHash& dropped) {
  const Text line = run.line(entry);
  add_line(dropped, line);
  run.line_bytes -= line.size() + 1;
}

void note_cut(const LineRun& run, const RowFormat& order, const Entry& kept, const Entry& last, std::uint64_t dropped,
              std::vector<GroupCut>& cuts) {
  const Text last_kept = run.line(kept), last_dropped = run.line(last);
  if (std::max(last_kept.size(), last_dropped.size()) > GroupCut::most_kept || cuts.size() == GroupCut::most_noted) return;
  cuts.push_back({RowBound(order, kept, last_kept), RowBound(order, last, last_dropped), std::string(last_kept), dropped});
}

}  // namespace

void drop_equal(LineRun& run, const RowFormat& order, KeptOfEqual wanted, hash::MultisetHash& dropped,
                std::vector<GroupCut>* cuts) {
  constexpr std::size_t rows_ahead = 16;
  if (wanted.most == 0) return;
  Entry* const entries = run.entries();
  const std::size_t count = run.count;
  std::size_t kept = 0;
  for (std::size_t begin = 0; begin < count;) {
    const std::size_t end = group_end(run, order, begin), stay = std::min<std::uint64_t>(end - begin, wanted.most);
    const std::size_t first = wanted.are_last ? end - stay : begin;
    if (cuts != nullptr && stay < end - begin)
      note_cut(run, order, entries[first + stay - 1], entries[end - 1], end - begin - stay, *cuts);
    for (std::size_t i = begin; i < end; ++i) {
      fetch_to_compare(run, i + rows_ahead);
      if (i < first || i >= first + stay) drop_line(run, entries[i], dropped);
    }
    if (first > kept) std::copy(entries + first, entries + first + stay, entries + kept);
    kept += stay;
    begin = end;
  }
  std::move_backward(entries, entries + kept, entries + count);
  run.count = kept;
}

}  // namespace ecosort::lines
