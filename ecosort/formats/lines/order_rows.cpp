#include "formats/lines/order_rows.h"

#include <algorithm>

#include "base/prefetch.h"
#include "sorting/parallel_parts.h"
#include "sorting/range_sort.h"

namespace ecosort::lines {
namespace {

using sorting::Entry;

constexpr std::size_t few_rows = 6;     // are ordered by comparing: 4 to 8 take as long
constexpr std::size_t rows_ahead = 24;  // that are fetched: paths 116 -> 94 ns a row, 12 ahead 103
// Bytes behind a common beginning that are fetched: where a row's next window is in its next cache line, this one is there when a
// small group, in which nothing can be fetched ahead, wants it. Paths 122 -> 101 ns a row; 24 bytes 107, 64 111.
constexpr std::size_t fetched_behind = 32;
constexpr std::size_t ties_ahead = 32;
// Entries; in ranges of more the rows of groups are fetched, those of others are in the cache since their windows were made.
// JSON lines in runs of 60 MB: 76 -> 48 ns a row.
constexpr std::size_t cached_range = 4096;

}  // namespace

RowOrder::RowOrder(const LineRun& run, bool descends, sorting::BucketWorkspace& workspace)
    : text_(run.bytes()),
      entries_(run.entries()),
      scratch_(run.scratch()),
      bytes_(run.terminator, descends ? ~std::uint64_t{0} : 0),
      workspace_(workspace) {}

void RowOrder::order_group(const Range& group) {
  settle(group);
  order_waiting();
}

void RowOrder::order_sorted(const Range& range) {
  sorted_.push_back(range);
  order_waiting();
}

void RowOrder::order_waiting() {
  while (!sorted_.empty())
    if (const Range group = take_group(); group.size() > 1) settle(group);
}

RowOrder::Range RowOrder::behind_windows(const Range& group) const noexcept {
  if (!bytes_.is_cut(entries_[group.begin].extension)) return {group.end, group.end, 0};
  return {group.begin, group.end, group.depth + window_bytes};
}

// The next group of equal windows. A range goes before its last group is looked at, so that the list holds only ranges with a
// rest: each of them has a row less than the one before.
RowOrder::Range RowOrder::take_group() {
  Range& range = sorted_.back();
  const bool fetches = range.size() > cached_range;
  std::size_t begin = range.begin;
  for (; begin + 1 < range.end && !sorting::key_equal(entries_[begin], entries_[begin + 1]); ++begin)  // rows that are alone
    if (fetches) fetch_ties(range, begin, begin + 1);
  std::size_t end = begin + 1;
  while (end < range.end && sorting::key_equal(entries_[begin], entries_[end])) ++end;
  const Range group = behind_windows({begin, end, range.depth});
  if (fetches) fetch_ties(range, begin, end);
  range.begin = end;
  if (range.size() == 0) sorted_.pop_back();
  return group;
}

// Asks for the rows of entries, as far behind these ones in the range as is looked ahead, that have the window of the one before.
// Always a part of its caller: GCC drops prefetches of functions that it takes for pure.
[[gnu::always_inline]] inline void RowOrder::fetch_ties(const Range& range, std::size_t begin, std::size_t end) const noexcept {
  const std::size_t depth = range.depth + window_bytes, until = std::min(end + ties_ahead, range.end);
  for (std::size_t i = begin + ties_ahead; i < until; ++i) {
    if (!sorting::key_equal(entries_[i - 1], entries_[i])) continue;
    prefetch(place(i - 1, depth));
    prefetch(place(i, depth));
  }
}

void RowOrder::settle(const Range& group) {
  if (group.size() <= few_rows) return insertion_sort(group);
  Range range = group;
  make_windows(range, 1);
  sorting::sort_range(entries_ + range.begin, scratch_ + range.begin, range.size(), sorting::Target::same_array, workspace_, 1);
  sorted_.push_back(range);
}

void RowOrder::insertion_sort(const Range& group) noexcept {
  for (std::size_t i = group.begin + 1; i < group.end; ++i) {
    const Entry moving = entries_[i];
    const char* const row = text_ + moving.index + group.depth;
    std::size_t hole = i;
    for (; hole > group.begin && bytes_.compare(row, place(hole - 1, group.depth)) < 0; --hole)
      entries_[hole] = entries_[hole - 1];
    entries_[hole] = moving;
  }
}

// RowOrder guesses from some of the rows how far all agree, so that mostly each is looked at once.
void RowOrder::make_windows(Range& group, unsigned threads) {
  const std::size_t guess = common_of_some(group), common = enter_parts(group, guess, threads);
  if (common < guess) (void)enter_parts(group, common, threads);
  group.depth += common;
}

std::size_t RowOrder::common_of_some(const Range& group) const noexcept {
  constexpr std::size_t some = 7;
  const std::size_t step = std::max<std::size_t>(group.size() / some, 1);
  const char* const first = place(group.begin, group.depth);
  std::size_t common = SIZE_MAX;
  for (std::size_t i = group.begin + step; i < group.end && common > 0; i += step)
    common = bytes_.common(first, place(i, group.depth), common);
  return common;
}

std::size_t RowOrder::enter_parts(const Range& group, std::size_t common, unsigned threads) {
  const char* const first = place(group.begin, group.depth);
  if (threads <= 1) return enter_windows(group, first, common);
  std::vector<std::size_t> commons(threads);
  sorting::for_each_part(threads, threads, [&](std::size_t i) {
    const Range part{group.begin + sorting::part_begin(group.size(), threads, i),
                     group.begin + sorting::part_begin(group.size(), threads, i + 1), group.depth};
    commons[i] = enter_windows(part, first, common);
  });
  return *std::ranges::min_element(commons);
}

// Windows behind `common` bytes of rows that agree with the first one in them; else returns in how many all of them do.
std::size_t RowOrder::enter_windows(const Range& part, const char* first, std::size_t common) {
  const std::size_t supposed = common;
  for (std::size_t i = part.begin; i < part.end; ++i) {
    const char* const ahead = place(std::min(i + rows_ahead, part.end - 1), part.depth);
    prefetch(ahead);
    prefetch(ahead + supposed + fetched_behind);
    const char* const row = place(i, part.depth);
    if (common > 0) common = bytes_.common(first, row, common);
    const records::KeyWindow window = bytes_.window(row + common);
    entries_[i].prefix = window.prefix;
    entries_[i].extension = window.extension;
  }
  return common;
}

}  // namespace ecosort::lines
