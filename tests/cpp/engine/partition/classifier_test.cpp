// Classifies rows among splitters, and orders a run's index by that.
#include "engine/partition/classifier.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "base/random.h"
#include "engine/partition/slice_order.h"

namespace ecosort::engine::partition {
namespace {

using sorting::Entry;

// A key of three parts, of which the last one only a comparison knows; the index is the row's offset.
struct Key {
  std::uint64_t prefix;
  std::uint32_t extension, rest;
  friend auto operator<=>(const Key&, const Key&) = default;
};

struct KeyTies {
  const std::vector<Key>& rows;
  const std::vector<Key>& splitters;
  [[nodiscard]] int compare(const Entry& row, std::size_t splitter) const {
    const std::uint32_t a = rows[row.index].rest, b = splitters[splitter].rest;
    return (a > b) - (a < b);
  }
  [[nodiscard]] static std::uint64_t offset(const Entry& row) noexcept { return row.index; }
};

// Random rows and splitters, in `values` different prefixes, extensions and rests each.
struct Case {
  Case(std::size_t count, std::size_t parts, std::uint64_t values, std::uint64_t seed) : random(seed) {
    const auto word = [&] {
      return values == 0 ? random.next() : random.below(values) * (UINT64_MAX / std::max<std::uint64_t>(values - 1, 1));
    };
    const auto key = [&] {
      return Key{word(), static_cast<std::uint32_t>(random.below(3)), static_cast<std::uint32_t>(random.below(3))};
    };
    for (std::size_t i = 0; i < count; ++i) rows.push_back(key());
    std::vector<std::tuple<Key, std::uint64_t, std::uint64_t>> sorted;
    for (std::size_t i = 0; i + 1 < parts; ++i)
      sorted.emplace_back(rows.empty() || random.coin() ? key() : rows[random.below(rows.size())], random.below(3),
                          random.below(count + 1));
    std::ranges::sort(sorted);
    for (const auto& [at, source, offset] : sorted) {
      splitters.push_back({"", source, offset});
      splitter_keys.push_back(at);
    }
  }
  [[nodiscard]] std::vector<records::KeyWindow> windows() const {
    std::vector<records::KeyWindow> windows;
    for (const Key& at : splitter_keys) windows.push_back({at.prefix, at.extension});
    return windows;
  }
  [[nodiscard]] std::vector<Entry> entries() const {
    std::vector<Entry> entries;
    for (std::uint32_t i = 0; i < rows.size(); ++i) entries.push_back({rows[i].prefix, rows[i].extension, i});
    return entries;
  }
  // Oracle: the splitters that are not behind the row, counted one by one.
  [[nodiscard]] std::size_t part_of(std::size_t row, std::uint64_t source) const {
    std::size_t part = 0;
    for (std::size_t i = 0; i < splitters.size(); ++i)
      part +=
          std::tuple(splitter_keys[i], splitters[i].source, splitters[i].offset) <= std::tuple(rows[row], source, row) ? 1 : 0;
    return part;
  }

  Random random;
  std::vector<Key> rows, splitter_keys;
  std::vector<Splitter> splitters;
};

constexpr std::uint64_t source = 1;

TEST(Classifier, CountsTheSplittersThatAreNotBehindARow) {
  for (const std::uint64_t values : {0, 1, 2, 5, 40})
    for (const std::size_t parts : {1, 2, 3, 4, 8, 9, 200, 256, 257})
      for (const std::size_t count : {0, 1, 7, 8, 1000}) {
        const Case test(count, parts, values, parts * 10 + values);
        const Classifier classifier(test.splitters, test.windows(), source);
        const std::vector<Entry> rows = test.entries();
        std::vector<PartNumber> found(count);
        classifier.classify(rows.data(), count, KeyTies{test.rows, test.splitter_keys}, found.data());
        for (std::size_t i = 0; i < count; ++i)
          ASSERT_EQ(found[i], test.part_of(i, source)) << "row " << i << ", " << parts << " parts, " << values << " values";
      }
}

TEST(SliceOrder, KeepsTheOrderOfRowsInEachPart) {
  for (const unsigned threads : {1U, 3U})
    for (const std::uint64_t values : {0, 1, 6})
      for (const std::size_t count : {0, 1, 5, 3000}) {
        const Case test(count, 20, values, count + values);
        const Classifier classifier(test.splitters, test.windows(), source);
        const KeyTies ties{test.rows, test.splitter_keys};
        MemoryBudget memory(std::uint64_t{1} << 20U);
        SliceOrder order(classifier, count, threads, memory);
        const std::vector<Entry> rows = test.entries();
        std::vector<Entry> slices(count);
        order.distribute(rows.data(), count, ties, slices.data(), threads);
        EXPECT_EQ(order.end(19), count);
        std::size_t seen = 0;
        for (std::size_t part = 0; part < 20; ++part)
          for (std::size_t i = order.begin(part); i < order.end(part); ++i, ++seen) {
            ASSERT_EQ(test.part_of(slices[i].index, source), part);
            ASSERT_TRUE(i == order.begin(part) || slices[i - 1].index < slices[i].index);
          }
        EXPECT_EQ(seen, count);
      }
}

TEST(SliceOrder, CutsSortedRowsWhereThePartsBegin) {
  const Case test(2000, 30, 7, 5);
  const Classifier classifier(test.splitters, test.windows(), source);
  MemoryBudget memory(std::uint64_t{1} << 20U);
  SliceOrder order(classifier, 2000, 1, memory);
  std::vector<Entry> rows = test.entries();
  std::ranges::stable_sort(rows, [&](const Entry& a, const Entry& b) { return test.rows[a.index] < test.rows[b.index]; });
  order.cut(rows.data(), rows.size(), KeyTies{test.rows, test.splitter_keys});
  for (std::size_t part = 0; part < 30; ++part)
    for (std::size_t i = order.begin(part); i < order.end(part); ++i) ASSERT_EQ(test.part_of(rows[i].index, source), part);
  EXPECT_EQ(order.end(29), rows.size());
}

}  // namespace
}  // namespace ecosort::engine::partition
