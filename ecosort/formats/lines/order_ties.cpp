#include "formats/lines/order_ties.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "formats/lines/key_bytes.h"
#include "sort/range_sort.h"

namespace ecosort::lines {
namespace {

using records::Entry;
using rows::KeyBytes;
using rows::RowFormat;

constexpr std::size_t compare_limit = 12;  // entries; smaller groups are ordered by comparing
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
    settle(group);
    if (sorted_.empty()) return;
    while (!sorted_.empty())
      if (const Group next = take_group(); next.size() > 1) settle(next);
    for (std::size_t i = group.begin; i < group.end; ++i) {
      entries_[i].prefix = before.prefix;
      entries_[i].extension = before.extension;
    }
  }

  [[nodiscard]] std::size_t end_of_equal(std::size_t begin, std::size_t end) const noexcept {
    std::size_t at = begin + 1;
    while (at < end && records::key_equal(entries_[begin], entries_[at])) ++at;
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
    if (!order_.has_deeper_window(window, group.level)) return merge_sort(group);
    if (order_.is_cut(window, group.level)) {
      group.depth += RowFormat::window_bytes;
    } else {
      if (group.level + 1 == order_.levels()) return;
      group = {.begin = group.begin, .end = group.end, .level = group.level + 1};
    }
    if (group.size() <= compare_limit) return insertion_sort(group);
    sort_by_windows(group);
  }

  void sort_by_windows(Group group) {
    const KeyBytes bytes = order_.key_bytes(group.level);
    if (bytes == KeyBytes::made && group.windows == 0 && are_equal(group)) return;
    const unsigned most = bytes == KeyBytes::made ? most_windows_without_skips : most_windows;
    if (bytes != KeyBytes::of_row && group.windows == most) return merge_sort(group);
    ++group.windows;
    if (bytes != KeyBytes::made) group.depth = common_depth(group);
    for (std::size_t i = group.begin; i < group.end; ++i) {
      const Text row = bytes == KeyBytes::of_row ? row_up_to_window(i, group.depth) : line(i);
      const records::KeyWindow window = order_.window(row, group.level, group.depth);
      entries_[i].prefix = window.prefix;
      entries_[i].extension = window.extension;
    }
    records::sort_range(entries_ + group.begin, scratch_ + group.begin, group.size(), records::Target::same_array, workspace_, 1);
    sorted_.push_back(group);
  }

  [[nodiscard]] Text line(std::size_t i) const noexcept { return run_.line(entries_[i]); }

  // The row, or as much of it as a window at `depth` shows. The row has that many bytes; its end is not looked for elsewhere.
  [[nodiscard]] Text row_up_to_window(std::size_t i, std::size_t depth) const noexcept {
    const char* const begin = run_.bytes() + entries_[i].index;
    const void* const end = std::memchr(begin + depth, run_.terminator, window_room);
    return {begin, end == nullptr ? depth + window_room : static_cast<std::size_t>(static_cast<const char*>(end) - begin)};
  }

  [[nodiscard]] bool are_equal(const Group& group) const {
    const Text first = line(group.begin);
    for (std::size_t i = group.begin + 1; i < group.end; ++i)
      if (line(i) != first) return false;
    return true;
  }

  [[nodiscard]] std::size_t common_depth(const Group& group) const {
    const Text first = line(group.begin);
    const bool are_rows = order_.key_bytes(group.level) == KeyBytes::of_row;
    std::size_t common = SIZE_MAX;
    for (std::size_t i = group.begin + 1; i < group.end && common > group.depth; ++i) {
      // Another row has the byte that ends it where the first one has a different byte, or is longer.
      const std::size_t with_first = are_rows
                                         ? common_beginning(first, {run_.bytes() + entries_[i].index, first.size()}, group.depth)
                                         : order_.common_bytes(first, line(i), group.level, group.depth);
      common = std::min(common, with_first);
    }
    return common;
  }

  // Leaves out what is known to be equal where the key is the row.
  [[nodiscard]] Text compared_part(const Entry& entry, const Group& group) const noexcept {
    if (order_.key_bytes(group.level) != KeyBytes::of_row) return run_.line(entry);
    Entry rest = entry;
    rest.index += static_cast<std::uint32_t>(group.depth);
    return run_.line(rest);
  }

  void insertion_sort(const Group& group) {
    for (std::size_t i = group.begin + 1; i < group.end; ++i) {
      const Entry moving = entries_[i];
      const Text text = compared_part(moving, group);
      std::size_t hole = i;
      for (; hole > group.begin && order_.compare(text, compared_part(entries_[hole - 1], group), group.level) < 0; --hole)
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
      const bool take_right =
          order_.compare(compared_part(entries_[right], group), compared_part(scratch_[left], group), group.level) < 0;
      entries_[to++] = take_right ? entries_[right++] : scratch_[left++];
    }
    std::copy(scratch_ + left, scratch_ + middle, entries_ + to);
  }

  const LineRun& run_;
  const RowFormat& order_;
  Entry* const entries_;
  Entry* const scratch_;
  records::BucketWorkspace workspace_;
  std::vector<Group> sorted_;  // ranges sorted by their windows, in which ties are left
};

}  // namespace

void order_ties(const LineRun& run, const RowFormat& order, std::size_t begin, std::size_t end) {
  TieOrder ties(run, order);
  while (begin < end) {
    const std::size_t next = ties.end_of_equal(begin, end);
    if (next - begin > 1) ties.refine({.begin = begin, .end = next});
    begin = next;
  }
}

}  // namespace ecosort::lines
