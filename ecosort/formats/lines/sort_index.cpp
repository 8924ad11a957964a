// The index of a run is sorted by the first windows, then its groups of ties in parts, each by one thread. A group that is as
// large as many parts is sorted by its next windows with all threads first.
#include <algorithm>
#include <vector>

#include "formats/lines/index_lines.h"
#include "formats/lines/order_rows.h"
#include "formats/lines/order_ties.h"
#include "sorting/parallel_parts.h"
#include "sorting/range_sort.h"

namespace ecosort::lines {
namespace {

using sorting::Entry;
using Range = RowOrder::Range;

constexpr std::size_t parts_per_thread = 8;
constexpr std::size_t wide = std::size_t{1} << 16U;  // entries; groups of twice as many are found, of fewer none

class IndexSort {
 public:
  IndexSort(const LineRun& run, const formats::RowFormat& order, unsigned threads)
      : run_(run), order_(order), entries_(run.entries()), threads_(threads) {}

  void operator()() {
    std::reverse(entries_, entries_ + run_.count);
    sorting::sort_range(entries_, run_.scratch(), run_.count, sorting::Target::same_array, workspace_, threads_);
    const Range all{0, run_.count, 0};
    for_each_part(all, take_wide_ties(all), [&](std::size_t begin, std::size_t end) { order_ties(run_, order_, begin, end); });
    while (!sorted_.empty()) order_next();
    for (const Tie& tie : ties_) put_back(tie);
  }

 private:
  // A group of equal first windows, which are others while it is ordered.
  struct Tie {
    std::size_t begin, end;
    Entry first;
  };

  // The wide groups of equal windows in a sorted range.
  [[nodiscard]] std::vector<Range> wide_groups(const Range& range) const {
    std::vector<Range> groups;
    for (std::size_t at = range.begin; threads_ > 1 && at + wide < range.end;) {
      const Entry& entry = entries_[at];
      if (!sorting::key_equal(entry, entries_[at + wide])) {
        at += wide;
        continue;
      }
      const auto [begin, end] = std::equal_range(entries_ + range.begin, entries_ + range.end, entry, sorting::key_less);
      groups.push_back({static_cast<std::size_t>(begin - entries_), static_cast<std::size_t>(end - entries_), range.depth});
      at = groups.back().end;
    }
    return groups;
  }

  // Takes those of the first windows whose rows are ordered by themselves next.
  [[nodiscard]] std::vector<Range> take_wide_ties(const Range& range) {
    std::vector<Range> groups;
    for (Range group : wide_groups(range)) {
      const Entry first = entries_[group.begin];
      const formats::KeyPlace place = order_.behind_first({first.prefix, first.extension});
      if (place.level == order_.levels() || order_.key_bytes(place.level) != formats::KeyBytes::of_row) continue;
      ties_.push_back({group.begin, group.end, first});
      descends_ = order_.descends(place.level);
      groups.push_back(group);
      group.depth = place.depth;
      sort_by_rows(group);
    }
    return groups;
  }

  void sort_by_rows(Range group) {
    RowOrder(run_, descends_, workspace_).make_windows(group, threads_);
    sorting::sort_range(entries_ + group.begin, run_.scratch() + group.begin, group.size(), sorting::Target::same_array,
                        workspace_, threads_);
    sorted_.push_back(group);
  }

  void order_next() {
    const Range range = sorted_.back();
    sorted_.pop_back();
    const std::vector<Range> groups = wide_groups(range);
    for_each_part(range, groups, [&](std::size_t begin, std::size_t end) {
      sorting::BucketWorkspace workspace;
      RowOrder(run_, descends_, workspace).order_sorted({begin, end, range.depth});
    });
    const RowOrder rows(run_, descends_, workspace_);
    for (const Range& group : groups)
      if (const Range next = rows.behind_windows(group); next.size() > 0) sort_by_rows(next);
  }

  // Calls part(begin, end) for parts of the range beside the groups; a part ends where windows differ.
  template <class Part>
  void for_each_part(const Range& range, const std::vector<Range>& groups, const Part& part) const {
    std::vector<Range> parts;
    const std::size_t size = range.size() / (threads_ <= 1 ? 1 : parts_per_thread * threads_) + 1;
    std::size_t begin = range.begin;
    const auto cut_up_to = [&](std::size_t end) {
      while (begin < end) {
        const std::size_t part_end = end - begin <= size ? end : group_end(begin + size, end);
        parts.push_back({begin, part_end, 0});
        begin = part_end;
      }
    };
    for (const Range& group : groups) {
      cut_up_to(group.begin);
      begin = group.end;
    }
    cut_up_to(range.end);
    sorting::for_each_part(threads_, parts.size(), [&](std::size_t i) { part(parts[i].begin, parts[i].end); });
  }

  // Behind the last entry with the window of the one before `at`.
  [[nodiscard]] std::size_t group_end(std::size_t at, std::size_t end) const {
    return static_cast<std::size_t>(std::upper_bound(entries_ + at, entries_ + end, entries_[at - 1], sorting::key_less) -
                                    entries_);
  }

  void put_back(const Tie& tie) const noexcept {
    for (std::size_t i = tie.begin; i < tie.end; ++i) {
      entries_[i].prefix = tie.first.prefix;
      entries_[i].extension = tie.first.extension;
    }
  }

  const LineRun& run_;
  const formats::RowFormat& order_;
  Entry* const entries_;
  const unsigned threads_;
  sorting::BucketWorkspace workspace_;
  bool descends_ = false;      // of the level whose key is the row
  std::vector<Range> sorted_;  // by windows of the rows, in which groups are left
  std::vector<Tie> ties_;
};

}  // namespace

void sort_index(LineRun& run, const formats::RowFormat& order, unsigned threads) { IndexSort(run, order, threads)(); }

}  // namespace ecosort::lines
