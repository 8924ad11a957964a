#include "formats/lines/order_ties.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "base/prefetch.h"
#include "formats/lines/key_bytes.h"
#include "formats/lines/key_chain.h"
#include "formats/lines/order_rows.h"
#include "sorting/range_sort.h"

namespace ecosort::lines {
namespace {

using formats::KeyBytes;
using formats::RowFormat;
using sorting::Entry;

// Entries; smaller groups are ordered by comparing, which finds the keys of two rows each time. A window finds that of one.
constexpr std::size_t compare_limit = 4;
constexpr std::size_t keys_ahead = 16;  // that are fetched
// Windows of a level that a group gets, before it is ordered by comparing: each may look at all of the key. Where common
// beginnings are passed over, a group rarely needs a second one.
constexpr unsigned most_windows = 16, most_windows_without_skips = 3;

// Entries that are known to have equal keys before `level`, and `depth` equal bytes of the key of `level`.
struct Group {
  std::size_t begin, end;
  unsigned level = 0;
  std::size_t depth = 0;
  unsigned windows = 0;  // that the group had of the level

  [[nodiscard]] std::size_t size() const noexcept { return end - begin; }
};

class TieOrder {
 public:
  TieOrder(const LineRun& run, const RowFormat& order)
      : run_(run), order_(order), entries_(run.entries()), scratch_(run.scratch()) {}

  // The windows of the group are equal, those of level 0.
  void refine(const Group& group) {
    const Entry before = entries_[group.begin];
    const records::KeyWindow window{before.prefix, before.extension};
    if (order_.has_deeper_window(window, 0)) {
      const formats::KeyPlace place = order_.behind_first(window);
      order_group({.begin = group.begin, .end = group.end, .level = place.level, .depth = place.depth});
    } else {
      order_by_keys(group);
    }
    while (!sorted_.empty())
      if (const Group next = take_group(); next.size() > 1) settle(next);
    for (std::size_t i = group.begin; i < group.end; ++i) {
      entries_[i].prefix = before.prefix;
      entries_[i].extension = before.extension;
    }
  }

  [[nodiscard]] std::size_t end_of_equal(std::size_t begin, std::size_t end) const noexcept {
    std::size_t at = begin + 1;
    while (at < end && sorting::key_equal(entries_[begin], entries_[at])) ++at;
    return at;
  }

 private:
  // The next group of equal windows. A range goes before its last group is looked at, so that the list holds only ranges with a
  // rest: each of them has a row less than the one before, and this row is as long as the nesting is deep.
  [[nodiscard]] Group take_group() {
    Group& range = sorted_.back();
    Group group = range;
    group.end = range.begin = end_of_equal(group.begin, group.end);
    if (range.begin == range.end) sorted_.pop_back();
    return group;
  }

  // Orders a group of equal windows, or sorts it by the next ones and leaves the groups that it falls into on the list.
  void settle(Group group) {
    const records::KeyWindow window{entries_[group.begin].prefix, entries_[group.begin].extension};
    if (!order_.has_deeper_window(window, group.level)) return order_by_keys(group);
    if (order_.is_cut(window, group.level))
      group.depth += RowFormat::window_bytes;
    else
      group = {.begin = group.begin, .end = group.end, .level = group.level + 1};
    order_group(group);
  }

  // No window shows how the keys of the level differ; mostly they do not, and those of the next one decide.
  void order_by_keys(const Group& group) {
    if (have_equal_keys(group))
      order_group({.begin = group.begin, .end = group.end, .level = group.level + 1});
    else
      merge_sort(group);
  }

  [[nodiscard]] bool have_equal_keys(const Group& group) const {
    const Text first = line(group.begin);
    for (std::size_t i = group.begin + 1; i < group.end; ++i) {
      fetch(std::min(i + keys_ahead, group.end - 1));
      if (!order_.are_keys_equal(first, line(i), group.level)) return false;
    }
    return true;
  }

  void order_group(const Group& group) {
    if (group.level == order_.levels()) return;
    if (order_.key_bytes(group.level) == KeyBytes::of_row) return order_rows(group);
    if (group.size() <= compare_limit) return order_few(group);
    sort_by_windows(group);
  }

  void sort_by_windows(Group group) {
    const bool is_made = order_.key_bytes(group.level) == KeyBytes::made;
    if (is_made && group.windows == 0 && are_equal(group)) return;
    if (group.windows == (is_made ? most_windows_without_skips : most_windows)) return merge_sort(group);
    ++group.windows;
    if (!is_made) skip_common(group);
    for (std::size_t i = group.begin; i < group.end; ++i) {
      fetch(std::min(i + keys_ahead, group.end - 1));
      const records::KeyWindow window = order_.window(line(i), group.level, group.depth);
      entries_[i].prefix = window.prefix;
      entries_[i].extension = window.extension;
    }
    sorting::sort_range(entries_ + group.begin, scratch_ + group.begin, group.size(), sorting::Target::same_array, workspace_, 1);
    sorted_.push_back(group);
  }

  void order_rows(const Group& group) {
    std::optional<RowOrder>& rows = rows_[order_.descends(group.level) ? 1 : 0];
    if (!rows) rows.emplace(run_, order_.descends(group.level), workspace_);
    rows->order_group({group.begin, group.end, group.depth});
  }

  [[nodiscard]] Text line(std::size_t i) const noexcept { return run_.line(entries_[i]); }

  [[gnu::always_inline]] void fetch(std::size_t i) const noexcept {
    const char* const row = run_.bytes() + entries_[i].index;
    prefetch(row);
    prefetch(row + 64);
  }

  [[nodiscard]] bool are_equal(const Group& group) const {
    const Text first = line(group.begin);
    for (std::size_t i = group.begin + 1; i < group.end; ++i)
      if (line(i) != first) return false;
    return true;
  }

  // Passes over what the keys of the group have in common, if some of them show that it is worth a look at all.
  void skip_common(Group& group) const {
    constexpr std::size_t some = 7, least = RowFormat::window_bytes / 2;
    if (common_depth(group, std::max<std::size_t>(group.size() / some, 1)) >= group.depth + least)
      group.depth = common_depth(group, 1);
  }

  // In how many bytes every key out of `step` agrees with the first one.
  [[nodiscard]] std::size_t common_depth(const Group& group, std::size_t step) const {
    const Text first = line(group.begin);
    std::size_t common = SIZE_MAX;
    for (std::size_t i = group.begin + step; i < group.end && common > group.depth; i += step) {
      if (step == 1) fetch(std::min(i + keys_ahead, group.end - 1));
      common = std::min(common, order_.common_bytes(first, line(i), group.level, group.depth));
    }
    return common;
  }

  // Orders at most compare_limit rows, the windows of each of which are made once.
  void order_few(const Group& group) {
    KeyChain chains[compare_limit];
    Text rows[compare_limit];
    std::size_t order[compare_limit];  // of the rows that are in order, numbers
    Entry entries[compare_limit];
    for (std::size_t i = 0; i < group.size(); ++i) {
      entries[i] = entries_[group.begin + i];
      rows[i] = run_.line(entries[i]);
      chains[i].begin({group.level, group.depth});
      std::size_t hole = i;
      for (; hole > 0; --hole) {
        const std::size_t before = order[hole - 1];
        if (KeyChain::compare(order_, chains[i], rows[i], chains[before], rows[before]) >= 0) break;
        order[hole] = before;
      }
      order[hole] = i;
    }
    for (std::size_t i = 0; i < group.size(); ++i) entries_[group.begin + i] = entries[order[i]];
  }

  void insertion_sort(const Group& group) {
    for (std::size_t i = group.begin + 1; i < group.end; ++i) {
      const Entry moving = entries_[i];
      const Text text = run_.line(moving);
      std::size_t hole = i;
      for (; hole > group.begin && order_.compare(text, line(hole - 1), group.level) < 0; --hole)
        entries_[hole] = entries_[hole - 1];
      entries_[hole] = moving;
    }
  }

  // Stable, from short sorted ranges upwards.
  void merge_sort(const Group& group) {
    for (Group part = group; part.begin < group.end; part.begin = part.end) {
      part.end = std::min(part.begin + compare_limit, group.end);
      insertion_sort(part);
    }
    for (std::size_t size = compare_limit; size < group.size(); size *= 2)
      for (std::size_t begin = group.begin; group.end - begin > size; begin = std::min(begin + 2 * size, group.end))
        merge(group, begin, begin + size, std::min(begin + 2 * size, group.end));
  }

  void merge(const Group& group, std::size_t begin, std::size_t middle, std::size_t end) {
    std::copy(entries_ + begin, entries_ + middle, scratch_ + begin);
    std::size_t left = begin, right = middle, to = begin;
    while (left < middle && right < end) {
      const bool take_right = order_.compare(line(right), run_.line(scratch_[left]), group.level) < 0;
      entries_[to++] = take_right ? entries_[right++] : scratch_[left++];
    }
    std::copy(scratch_ + left, scratch_ + middle, entries_ + to);
  }

  const LineRun& run_;
  const RowFormat& order_;
  Entry* const entries_;
  Entry* const scratch_;
  sorting::BucketWorkspace workspace_;
  // Order levels whose key is the row: with -k1r that of the first level, which descends, and of the last resort, which does not.
  std::array<std::optional<RowOrder>, 2> rows_;
  std::vector<Group> sorted_;  // ranges sorted by their windows, in which ties are left
};

constexpr std::size_t looked_at_once = 64;

// Returns which of the next entries have the window of the one before, and asks for the rows of both, so that they are there when
// their order is decided. Always a part of its caller: GCC drops prefetches of functions that it takes for pure.
[[gnu::always_inline]] inline std::uint64_t fetch_ties(const LineRun& run, std::size_t at, std::size_t end, std::size_t depth) {
  const Entry* const before = run.entries() + at - 1;
  const std::size_t count = std::min(end - at, looked_at_once);
  std::uint64_t ties = 0;
  for (std::size_t i = 0; i < count; ++i) ties |= std::uint64_t{sorting::key_equal(before[i], before[i + 1])} << i;
  for (std::uint64_t rest = ties; rest != 0; rest &= rest - 1) {
    const Entry* const tied = before + __builtin_ctzll(rest);
    prefetch(run.bytes() + tied[0].index + depth);
    prefetch(run.bytes() + tied[1].index + depth);
  }
  return ties;
}

}  // namespace

void order_ties(const LineRun& run, const RowFormat& order, std::size_t begin, std::size_t end) {
  if (end - begin < 2) return;
  TieOrder ties(run, order);
  const std::size_t depth = order.key_bytes(0) == KeyBytes::of_row ? RowFormat::window_bytes : 0;
  std::size_t settled = begin;
  std::uint64_t next = fetch_ties(run, begin + 1, end, depth);
  for (std::size_t at = begin + 1; at < end; at += looked_at_once) {
    std::uint64_t ties_here = next;
    if (at + looked_at_once < end) next = fetch_ties(run, at + looked_at_once, end, depth);
    for (; ties_here != 0; ties_here &= ties_here - 1) {
      const std::size_t first = at + static_cast<std::size_t>(__builtin_ctzll(ties_here)) - 1;
      if (first < settled) continue;
      settled = ties.end_of_equal(first, end);
      ties.refine({.begin = first, .end = settled});
    }
  }
}

}  // namespace ecosort::lines
