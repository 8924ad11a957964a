// Keys that begin alike for long: the stack does not grow with what they share, and the time grows with it, not with its square.
#include "formats/lines/order_ties.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "base/random.h"
#include "cpp/support/line_words.h"
#include "cpp/support/small_stack.h"
#include "formats/lines/index_lines.h"
#include "formats/lines/line_order.h"

namespace ecosort::lines {
namespace {

using Words = std::vector<std::string>;

// Sorts the lines, which are given in their order, from a shuffled text.
void expect_this_order(const Words& words, const std::vector<std::string>& ordered) {
  const LineOrder order(order_of_words(words));
  std::vector<std::size_t> places(ordered.size());
  std::iota(places.begin(), places.end(), 0);
  Random random(1);
  for (std::size_t i = places.size(); i > 1; --i) std::swap(places[i - 1], places[random.below(i)]);
  std::string text;
  for (const std::size_t place : places) text += ordered[place] + '\n';
  MemoryBudget memory(text.size() + (16 << 20U));
  LineRun run;
  run.memory = memory.allocate(text.size() + (8 << 20U), "run");
  std::copy(text.begin(), text.end(), run.bytes());
  std::vector<DuplicateFilter> none;
  ASSERT_EQ(index_lines(run, order, 0, text.size(), SIZE_MAX, 1, none).lines, ordered.size());
  on_small_stack([&] { sort_index(run, order, 1); });
  for (std::size_t i = 0; i < ordered.size(); ++i)
    ASSERT_TRUE(run.line(run.entries()[i]) == ordered[i])
        << i << " is ..." << run.line(run.entries()[i]).substr(ordered[i].size() - 9);
}

class LongBeginnings : public testing::TestWithParam<Words> {};

// These are more rows than are ordered by comparing alone.
constexpr int some_rows = 15;

TEST_P(LongBeginnings, CostLittle) {
  const Words& words = GetParam();
  const bool is_number =
      std::ranges::any_of(words, [](const std::string& word) { return word.find_first_of("nhg") < word.size(); });
  const bool has_two_fields = !words.empty() && words.back().starts_with("-k2");
  const std::string common = std::string(has_two_fields ? "x " : "") + std::string(1 << 20U, is_number ? '7' : 'a');
  std::vector<std::string> ordered;
  for (int i = 0; i < some_rows; ++i) ordered.push_back(common + std::to_string(1000 + i));
  if (std::ranges::find(words, "-r") != words.end()) std::ranges::reverse(ordered);
  expect_this_order(words, ordered);
}

INSTANTIATE_TEST_SUITE_P(Options, LongBeginnings,
                         testing::Values(Words{}, Words{"-s"}, Words{"-r"}, Words{"-f"}, Words{"-d", "-s"}, Words{"-i"},
                                         Words{"-df", "-s"}, Words{"-V"}, Words{"-V", "-f"}, Words{"-n", "-s"}, Words{"-n", "-r"},
                                         Words{"-h"}, Words{"-g"}, Words{"-M"}, Words{"-k2,2"}, Words{"-s", "-k2f"},
                                         Words{"-s", "-k2n"}, Words{"-s", "-k2V"}));

// Each line shares 11 bytes more with the next one: as many groups lie within each other as there are lines.
TEST(NestedGroups, TakeNoStack) {
  constexpr std::size_t rows = 700;
  for (const Words& words : {Words{}, Words{"-f"}, Words{"-d"}, Words{"-V"}, Words{"-k1,1"}}) {
    std::vector<std::string> ordered;
    for (std::size_t i = rows; i > 0; --i) ordered.push_back(std::string(11 * i, 'a') + 'b');
    expect_this_order(words, ordered);
  }
}

TEST(EqualKeys, KeepTheirOrderBehindAnyBeginning) {
  const LineOrder order(order_of_words({"-s", "-f"}));
  MemoryBudget memory(16 << 20U);
  LineRun run;
  run.memory = memory.allocate(8 << 20U, "run");
  std::string text;
  for (int i = 0; i < 1000; ++i) text += std::string(100, i % 2 == 0 ? 'x' : 'X') + std::string(i % 3, 'y') + '\n';
  std::copy(text.begin(), text.end(), run.bytes());
  std::vector<DuplicateFilter> none;
  (void)index_lines(run, order, 0, text.size(), SIZE_MAX, 1, none);
  sort_index(run, order, 1);
  for (std::size_t i = 1; i < run.count; ++i) {
    const sorting::Entry a = run.entries()[i - 1], b = run.entries()[i];
    const int relation = order.compare(run.line(a), run.line(b));
    ASSERT_TRUE(relation < 0 || (relation == 0 && a.index < b.index)) << i;
  }
}

std::vector<std::string> sorted_by(const Words& words, unsigned threads, const std::string& text) {
  const LineOrder order(order_of_words(words));
  MemoryBudget memory(64 << 20U);
  LineRun run;
  run.memory = memory.allocate(32 << 20U, "run");
  std::copy(text.begin(), text.end(), run.bytes());
  std::vector<DuplicateFilter> none;
  (void)index_lines(run, order, 0, text.size(), SIZE_MAX, threads, none);
  sort_index(run, order, threads);
  std::vector<std::string> rows;
  for (std::size_t i = 0; i < run.count; ++i) {
    const sorting::Entry& entry = run.entries()[i];
    const records::KeyWindow first = order.window(run.line(entry));
    EXPECT_TRUE(first.prefix == entry.prefix && first.extension == entry.extension) << "no first window at " << i;
    rows.emplace_back(run.line(entry));
  }
  return rows;
}

// Almost all rows have the first window in common, and most of these the next ones: such groups are sorted by all threads.
TEST(WideGroups, AreSortedByAllThreads) {
  Random random(1);
  std::vector<std::string> rows;
  std::string text;
  for (int i = 0; i < 160'000; ++i) {
    std::string row = random.below(100) == 0 ? "" : "common beginning";
    row += random.below(20) == 0 ? "s" : " of most";
    row += std::to_string(random.below(random.coin() ? 1000 : 3));
    text += row + '\n';
    rows.push_back(row);
  }
  std::ranges::sort(rows);
  EXPECT_EQ(sorted_by({}, 2, text), rows);
  std::ranges::reverse(rows);
  EXPECT_EQ(sorted_by({"-r"}, 2, text), rows);
  EXPECT_EQ(sorted_by({"-k1,1.3n", "-r"}, 2, text), rows);
}

}  // namespace
}  // namespace ecosort::lines
