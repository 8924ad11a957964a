// Brings the index of a run into the order of parts, each in the order that it had: counting, as in every pass of a radix sort.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/memory.h"
#include "engine/partition/classifier.h"
#include "planner/partition_plan.h"
#include "sorting/entry.h"
#include "sorting/parallel_parts.h"

namespace ecosort::engine::partition {

// One call at a time, in the thread pool.
class SliceOrder {
 public:
  // Runs have up to `most_rows`.
  SliceOrder(const Classifier& classifier, std::uint64_t most_rows, unsigned threads, MemoryBudget& memory)
      : classifier_(classifier),
        numbers_(memory.allocate(std::max<std::uint64_t>(most_rows, 1) * sizeof(PartNumber), "numbers of parts")),
        counts_(memory.allocate(counts_bytes(classifier.parts(), threads), "sizes of slices")),
        ends_(classifier.parts()) {}

  // Moves from[0..n) to to[0..n), with no more threads than it was made for.
  template <class Ties>
  void distribute(const sorting::Entry* from, std::size_t n, const Ties& ties, sorting::Entry* to, unsigned threads) {
    const std::size_t parts = classifier_.parts(),
                      pieces = std::min<std::size_t>(pieces_of(threads), std::max<std::size_t>(n, 1));
    PartNumber* const numbers = numbers_.as<PartNumber>().data();
    std::uint32_t* const counts = counts_.as<std::uint32_t>().data();  // of each piece, one for each part
    sorting::for_each_part(threads, pieces, [&](std::size_t piece) {
      const std::size_t begin = sorting::part_begin(n, pieces, piece), end = sorting::part_begin(n, pieces, piece + 1);
      std::uint32_t* const count = counts + piece * parts;
      std::fill_n(count, parts, 0U);
      classifier_.classify(from + begin, end - begin, ties, numbers + begin);
      for (std::size_t i = begin; i < end; ++i) ++count[numbers[i]];
    });
    make_places(counts, pieces);
    sorting::for_each_part(threads, pieces, [&](std::size_t piece) {
      const std::size_t begin = sorting::part_begin(n, pieces, piece), end = sorting::part_begin(n, pieces, piece + 1);
      std::uint32_t* const place = counts + piece * parts;
      for (std::size_t i = begin; i < end; ++i) to[place[numbers[i]]++] = from[i];
    });
  }

  // Finds in rows that are sorted already where the parts lie.
  template <class Ties>
  void cut(const sorting::Entry* rows, std::size_t n, const Ties& ties) {
    for (std::size_t splitter = 0; splitter + 1 < ends_.size(); ++splitter) {
      const auto* const end = std::partition_point(
          rows, rows + n, [&](const sorting::Entry& row) { return !classifier_.is_behind(row, splitter, ties); });
      ends_[splitter] = static_cast<std::size_t>(end - rows);
    }
    ends_.back() = n;
  }

  // The rows of part p are [begin(p), end(p)).
  [[nodiscard]] std::size_t begin(std::size_t part) const noexcept { return part == 0 ? 0 : ends_[part - 1]; }
  [[nodiscard]] std::size_t end(std::size_t part) const noexcept { return ends_[part]; }

 private:
  static std::size_t pieces_of(unsigned threads) noexcept {
    return threads <= 1 ? 1 : threads * std::size_t{planner::pieces_per_thread};
  }
  static std::uint64_t counts_bytes(std::uint64_t parts, unsigned threads) noexcept {
    return round_up(pieces_of(threads) * parts * sizeof(std::uint32_t), page_bytes);
  }

  // Makes of what each piece has of each part the place where it begins.
  void make_places(std::uint32_t* counts, std::size_t pieces) {
    std::uint32_t at = 0;
    for (std::size_t part = 0; part < ends_.size(); ++part) {
      for (std::size_t piece = 0; piece < pieces; ++piece) {
        std::uint32_t& count = counts[piece * ends_.size() + part];
        at += std::exchange(count, at);
      }
      ends_[part] = at;
    }
  }

  const Classifier& classifier_;
  Buffer numbers_, counts_;
  std::vector<std::size_t> ends_;
};

}  // namespace ecosort::engine::partition
