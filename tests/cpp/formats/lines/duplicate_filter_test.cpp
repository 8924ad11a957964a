// With -u: lines that came before are left out of the index, each thread's and those of the others, and accounted for.
#include "formats/lines/duplicate_filter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "formats/lines/index_lines.h"
#include "formats/lines/line_order.h"
#include "formats/lines/line_run.h"

namespace ecosort::lines {
namespace {

struct Sets {
  explicit Sets(MemoryBudget& memory, std::size_t count) : buffer(memory.allocate(count * bytes, "seen")) {
    for (std::size_t i = 0; i < count; ++i) all.emplace_back(buffer.data() + i * bytes, bytes);
  }
  static constexpr std::size_t bytes = std::size_t{64} << 10U;
  Buffer buffer;
  std::vector<DuplicateFilter> all;
};

struct Taken {
  std::size_t lines = 0, entered = 0;
  hash::MultisetHash hash, dropped;
  std::uint64_t dropped_bytes = 0;
};

// Indexes the text in batches, as it would arrive.
Taken index_all(LineRun& run, const std::string& text, std::size_t batch, unsigned threads, std::vector<DuplicateFilter>& seen) {
  const LineOrder order({});
  std::copy(text.begin(), text.end(), run.bytes());
  Taken taken;
  for (std::size_t begin = 0, end = 0; begin < text.size();) {
    end = std::min(end + batch, text.size());
    const Indexed indexed = index_lines(run, order, begin, end, SIZE_MAX, threads, seen);
    run.line_bytes += indexed.end - begin - indexed.dropped_bytes;
    taken.lines += indexed.lines;
    taken.entered += indexed.entered;
    taken.hash += indexed.hash;
    taken.dropped += indexed.dropped;
    taken.dropped_bytes += indexed.dropped_bytes;
    begin = indexed.end;
  }
  return taken;
}

class SeenBefore : public testing::TestWithParam<unsigned> {};

TEST_P(SeenBefore, EveryLineIsEnteredOrDroppedAndOneOfEachKindIsEntered) {
  Random random(3);
  std::vector<std::string> kinds;
  for (int i = 0; i < 3000; ++i) kinds.push_back(std::to_string(random.next()).substr(0, 2 + random.below(18)));
  std::map<std::string, std::size_t> count;
  std::string text;
  // The long lines at first make the later ones more than their bytes let suppose.
  for (int i = 0; i < 4000; ++i) text += std::string(100, 'x') + std::to_string(i) + '\n';
  for (int i = 0; i < 150'000; ++i) text += kinds[random.below(kinds.size())] + '\n';
  std::size_t lines = 0;
  for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1, ++lines) {
    end = text.find('\n', at);
    ++count[text.substr(at, end - at)];
  }
  MemoryBudget memory(64 << 20U);
  Sets sets(memory, GetParam());
  LineRun run;
  run.memory = memory.allocate(32 << 20U, "run");
  const Taken taken = index_all(run, text, std::size_t{400} << 10U, GetParam(), sets.all);
  EXPECT_EQ(taken.lines, lines);
  EXPECT_EQ(taken.hash.count, lines);
  EXPECT_EQ(taken.entered, run.count);
  EXPECT_EQ(taken.entered + taken.dropped.count, lines);
  hash::MultisetHash entered;
  std::uint64_t entered_bytes = 0;
  std::map<std::string, std::size_t> found;
  for (std::size_t i = 0; i < run.count; ++i) {
    const Text line = run.line(run.entries()[i]);
    add_line(entered, line);
    entered_bytes += line.size() + 1;
    ++found[std::string(line)];
  }
  EXPECT_EQ(entered + taken.dropped, taken.hash);
  EXPECT_EQ(entered_bytes + taken.dropped_bytes, text.size());
  for (const auto& [line, times] : count) {
    ASSERT_GE(found[line], 1U) << line;
    ASSERT_LE(found[line], times) << line;
  }
  // A set forgets lines when it is full, and several threads meet some for the first time before they hear of each other.
  EXPECT_LE(run.count, 4000 + 4 * kinds.size() * GetParam());
}

INSTANTIATE_TEST_SUITE_P(Threads, SeenBefore, testing::Values(1U, 2U, 4U), testing::PrintToStringParamName());

}  // namespace
}  // namespace ecosort::lines
