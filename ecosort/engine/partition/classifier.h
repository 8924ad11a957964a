// Finds the part of every row: how many splitters are not behind it.
//
// A search without branches among the first eight bytes of the splitters' keys decides nearly always; where these are those of a
// splitter, a comparison of whole keys does, and among equal keys the place of the row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/partition/splitter.h"
#include "formats/records/encoder.h"
#include "sorting/entry.h"

namespace ecosort::engine::partition {

using PartNumber = std::uint16_t;

// Decides where the first bytes of a key do not:
//
//   int compare(const sorting::Entry& row, std::size_t splitter) const   keys whose windows are equal, row before splitter: < 0
//   std::uint64_t offset(const sorting::Entry& row) const                of the row in its source
//
// Immutable and thread-safe. The splitters outlive it.
class Classifier {
 public:
  // `windows`: of the keys of the splitters, which are in order. The rows come from the file `source`.
  Classifier(const std::vector<Splitter>& splitters, std::vector<records::KeyWindow> windows, std::uint64_t source);

  [[nodiscard]] std::size_t parts() const noexcept { return windows_.size() + 1; }

  // parts[i] = the part of rows[i], for i in 0..n).
  template <class Ties>
  void classify(const sorting::Entry* rows, std::size_t n, const Ties& ties, PartNumber* parts) const {
    count_below(rows, n, parts);
    std::size_t hint = 0;
    for (std::size_t i = 0; i < n; ++i)
      if (const std::size_t part = parts[i]; part < windows_.size() && prefixes_[part] == rows[i].prefix)
        parts[i] = static_cast<PartNumber>(hint = part_among(part, rows[i], ties, hint));
  }

  // Returns whether the row belongs behind this splitter: it is that row itself, or comes later.
  template <class Ties>
  [[nodiscard]] bool is_behind(const sorting::Entry& row, std::size_t splitter, const Ties& ties) const {
    const records::KeyWindow& window = windows_[splitter];
    if (row.prefix != window.prefix) return row.prefix > window.prefix;
    if (row.extension != window.extension) return row.extension > window.extension;
    if (const int order = ties.compare(row, splitter); order != 0) return order > 0;
    const Splitter& at = splitters_[splitter];
    return source_ != at.source ? source_ > at.source : ties.offset(row) >= at.offset;
  }

 private:
  void count_below(const sorting::Entry* rows, std::size_t n, PartNumber* counts) const;

  // The splitters from `first` on have the row's prefix, up to one that has another. Rows that follow each other are often of one
  // part: that of the `hint` is tried first.
  template <class Ties>
  [[nodiscard]] std::size_t part_among(std::size_t first, const sorting::Entry& row, const Ties& ties, std::size_t hint) const {
    const std::size_t end = group_end_[first];
    if (first <= hint && hint <= end && (hint == first || is_behind(row, hint - 1, ties)) &&
        (hint == end || !is_behind(row, hint, ties)))
      return hint;
    std::size_t low = first, high = end;
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (is_behind(row, middle, ties))
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }

  const std::vector<Splitter>& splitters_;
  std::vector<records::KeyWindow> windows_;
  std::vector<std::uint64_t> prefixes_;   // of them, and the largest number until there are 2^n
  std::vector<std::uint32_t> group_end_;  // behind the last splitter with the same prefix
  std::uint64_t source_;
};

}  // namespace ecosort::engine::partition
