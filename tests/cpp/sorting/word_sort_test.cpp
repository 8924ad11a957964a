#include "sorting/word_sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "base/cpu_features.h"

namespace ecosort::sorting {
namespace {

class WordSortOf : public testing::TestWithParam<CpuLevel> {
 protected:
  void SetUp() override {
    if (GetParam() > detected_cpu_level()) GTEST_SKIP() << "this processor lacks it";
    ASSERT_NE(word_sort_of(GetParam()).sort, nullptr);
  }
};

// Every number of words, of which many are equal, or none, or that are in order, or as large as what fills a block.
TEST_P(WordSortOf, GivesThemInOrderWhateverTheyAre) {
  const SortWords sort = word_sort_of(GetParam()).sort;
  std::mt19937 random(7);
  constexpr std::size_t most = 1100;
  for (std::size_t n = 1; n <= most; ++n) {
    for (const std::uint32_t values : {2U, 1000U, 0U}) {
      alignas(word_alignment) std::uint32_t words[room_to_sort(most)];
      for (std::size_t i = 0; i < n; ++i) {
        const auto word = static_cast<std::uint32_t>(random());
        words[i] = values == 0 ? word : ~std::uint32_t{0} - word % values;
      }
      if (n % 5 == 0) std::sort(words, words + n, [](std::uint32_t a, std::uint32_t b) { return a > b; });
      std::vector<std::uint32_t> expected(words, words + n);
      std::ranges::sort(expected);
      sort(words, n);
      ASSERT_TRUE(std::equal(expected.begin(), expected.end(), words)) << n << " words of " << values << " values";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, WordSortOf,
                         testing::ValuesIn(std::begin(all_cpu_levels) + 1,
                                           std::end(all_cpu_levels)),  // the baseline has no vectors
                         [](const auto& level) { return std::string(to_string(level.param)); });

}  // namespace
}  // namespace ecosort::sorting
