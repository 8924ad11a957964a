// Orders by random keys are uniform: no test that a biased order would pass, which two biased ones show.
#include "formats/shuffle/random_keys.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "base/random.h"

namespace ecosort::shuffle {
namespace {

using Order = std::vector<unsigned>;  // which row is at which place

template <class KeyOf>
Order order_of(unsigned rows, const KeyOf& key_of) {
  Order order(rows);
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, key_of);
  return order;
}

Order shuffled(unsigned rows, std::uint64_t seed) {
  return order_of(rows, [keys = RandomKeys(seed)](unsigned row) {
    const records::KeyWindow key = keys.of(row);
    return std::pair(key.prefix, key.extension);
  });
}

// Every place is exchanged with any one, instead of one behind it.
Order exchanged_with_any(unsigned rows, std::uint64_t seed) {
  Order order(rows);
  std::iota(order.begin(), order.end(), 0U);
  Random chance(seed * 0x9e3779b97f4a7c15);
  for (unsigned i = 0; i < rows; ++i) std::swap(order[i], order[chance.below(rows)]);
  return order;
}

// Keeps rows with equal keys in their order.
Order by_keys_of_four_bits(unsigned rows, std::uint64_t seed) {
  return order_of(rows, [keys = RandomKeys(seed)](unsigned row) { return keys.of(row).prefix >> 60U; });
}

double chi_square(const std::vector<double>& counts, double expected) {
  return std::accumulate(counts.begin(), counts.end(), 0.0, [expected](double sum, double count) {
    return sum + (count - expected) * (count - expected) / expected;
  });
}

// Counts all permutations of four rows, over seeds that are neighbours.
template <class Shuffle>
double chi_square_of_permutations(const Shuffle& shuffle) {
  constexpr unsigned permutations = 24, each = 1000;
  std::map<Order, double> counts;
  for (std::uint64_t seed = 0; seed < permutations * each; ++seed) ++counts[shuffle(4, seed)];
  std::vector<double> all(permutations - counts.size());
  for (const auto& [order, count] : counts) all.push_back(count);
  return chi_square(all, each);
}

// The largest one of all rows of the places where a row lands.
template <class Shuffle>
double chi_square_of_places(const Shuffle& shuffle) {
  constexpr unsigned rows = 20, each = 500;
  std::vector<std::vector<double>> counts(rows, std::vector<double>(rows));
  for (std::uint64_t seed = 0; seed < rows * each; ++seed) {
    const Order order = shuffle(rows, seed);
    for (unsigned place = 0; place < rows; ++place) ++counts[order[place]][place];
  }
  double largest = 0;
  for (const std::vector<double>& row : counts) largest = std::max(largest, chi_square(row, each));
  return largest;
}

// A uniform order exceeds them once in a million times.
constexpr double most_of_permutations = 68, most_of_places = 66;  // 23 degrees of freedom; 19, of twenty rows

TEST(RandomKeys, AreThoseOfThePaper) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox({ones, ones, ones, ones}, {ones, ones}), (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomKeys, MakeEveryPermutationEquallyLikely) {
  EXPECT_LT(chi_square_of_permutations(shuffled), most_of_permutations);
  EXPECT_GT(chi_square_of_permutations(exchanged_with_any), most_of_permutations);
  EXPECT_GT(chi_square_of_permutations(by_keys_of_four_bits), most_of_permutations);
}

TEST(RandomKeys, PutEveryRowAnywhere) {
  EXPECT_LT(chi_square_of_places(shuffled), most_of_places);
  EXPECT_GT(chi_square_of_places(exchanged_with_any), most_of_places);
  EXPECT_GT(chi_square_of_places(by_keys_of_four_bits), most_of_places);
}

TEST(RandomKeys, OfAnIndexAreThoseOfTheNumbers) {
  constexpr std::size_t rows = 5000;
  constexpr std::uint64_t number = (std::uint64_t{1} << 32U) - 2000;  // rows on both sides of it
  std::vector<sorting::Entry> index(rows);
  const RandomKeys keys(7);
  keys.enter(index.data() + rows, 3, rows, number, 1);
  for (std::size_t i = 3; i < rows; ++i) {
    const records::KeyWindow key = keys.of(number + i - 3);
    ASSERT_EQ(index[rows - 1 - i].prefix, key.prefix);
    ASSERT_EQ(index[rows - 1 - i].extension, key.extension);
  }
}

// At both sides of the border of words, and for a seed that fills both.
TEST(RandomKeys, AreTheSameOfAllLevels) {
  constexpr std::size_t rows = 64;
  constexpr std::uint64_t number = (std::uint64_t{1} << 32U) - 20;
  constexpr std::array<std::uint32_t, 2> seed{0x12345678, 0x9abcdef0};
  const RandomKeys keys(std::uint64_t{seed[1]} << 32U | seed[0]);
  for (const CpuLevel level : all_cpu_levels) {
    if (level > detected_cpu_level()) continue;
    std::vector<sorting::Entry> index(rows);
    const std::size_t entered = keys_of_rows(level)(index.data() + rows, rows - 1, number, seed);
    EXPECT_EQ(entered > 0, level != CpuLevel::baseline);
    for (std::size_t i = 0; i < entered; ++i) {
      EXPECT_EQ(index[rows - 1 - i].prefix, keys.of(number + i).prefix) << to_string(level) << i;
      EXPECT_EQ(index[rows - 1 - i].extension, keys.of(number + i).extension) << to_string(level) << i;
    }
  }
}

}  // namespace
}  // namespace ecosort::shuffle
