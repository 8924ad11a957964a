#include "formats/lines/order_rows.h"

#include <algorithm>

#include "base/prefetch.h"
#include "sort/range_sort.h"

namespace ecosort::lines {
namespace {

using records::Entry;

#ifndef FEW
#define FEW 6
#endif
constexpr std::size_t few_rows = FEW;    // are ordered by comparing
constexpr std::size_t rows_ahead = 16;  // that are fetched

}  // namespace

RowOrder::RowOrder(const LineRun& run, records::BucketWorkspace& workspace)
    : text_(run.bytes()),
      entries_(run.entries()),
      scratch_(run.scratch()),
      terminator_(run.terminator),
      bytes_(run.terminator, 0),
      workspace_(workspace) {}

void RowOrder::order(std::size_t begin, std::size_t end, std::size_t depth, bool descends) {
  bytes_ = RowBytes(terminator_, descends ? ~std::uint64_t{0} : 0);
  order_group({begin, end, depth});
  while (!sorted_.empty())
    if (const Range group = take_group(); group.end - group.begin > 1) order_group(group);
}

// The next group of equal windows whose rows continue behind them. A range goes before its last group is looked at, so that the
// list holds only ranges with a rest: each of them has a row less than the one before.
RowOrder::Range RowOrder::take_group() {
  Range& range = sorted_.back();
  Range group = range;
  const Entry& first = entries_[group.begin];
  std::size_t end = group.begin + 1;
  while (end < range.end && records::key_equal(first, entries_[end])) ++end;
  group.end = range.begin = end;
  if (range.begin == range.end) sorted_.pop_back();
  if (!bytes_.is_cut(first.extension)) group.end = group.begin;
  group.depth += window_bytes;
  return group;
}

void RowOrder::order_group(Range group) {
  if (group.end - group.begin <= few_rows) return insertion_sort(group);
  make_windows(group);
  records::sort_range(entries_ + group.begin, scratch_ + group.begin, group.end - group.begin, records::Target::same_array,
                      workspace_, 1);
  sorted_.push_back(group);
}

void RowOrder::insertion_sort(const Range& group) noexcept {
  for (std::size_t i = group.begin + 1; i < group.end; ++i) {
    const Entry moving = entries_[i];
    const char* const row = text_ + moving.index + group.depth;
    std::size_t hole = i;
    for (; hole > group.begin && bytes_.compare(row, place(hole - 1, group.depth)) < 0; --hole) entries_[hole] = entries_[hole - 1];
    entries_[hole] = moving;
  }
}

// Gives the group windows from where its rows may differ, which is its depth afterwards. How far they agree is guessed from some
// of them, so that mostly each row is looked at once.
void RowOrder::make_windows(Range& group) {
  std::size_t common = common_of_some(group);
  if (!enter_windows(group, common)) (void)enter_windows(group, common);
  group.depth += common;
}

std::size_t RowOrder::common_of_some(const Range& group) const noexcept {
  constexpr std::size_t some = 7;
  const std::size_t step = std::max<std::size_t>((group.end - group.begin) / some, 1);
  const char* const first = place(group.begin, group.depth);
  std::size_t common = SIZE_MAX / 2;
  for (std::size_t i = group.begin + step; i < group.end && common > 0; i += step)
    common = bytes_.common(first, place(i, group.depth), common);
  return common;
}

// False where some row does not agree with the others in `common` bytes; then so many are left as all of them agree in.
bool RowOrder::enter_windows(Range group, std::size_t& common) {
  const char* const first = place(group.begin, group.depth);
  const std::size_t supposed = common;
  for (std::size_t i = group.begin; i < group.end; ++i) {
    prefetch(place(std::min(i + rows_ahead, group.end - 1), group.depth + supposed));
    const char* const row = place(i, group.depth);
    if (common > 0) common = bytes_.common(first, row, common);
    const records::KeyWindow window = bytes_.window(row + common);
    entries_[i].prefix = window.prefix;
    entries_[i].extension = window.extension;
  }
  return common == supposed;
}

}  // namespace ecosort::lines
