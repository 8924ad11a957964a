// The windows of line keys order lines as the comparison does, and say rightly when they decide.
#include "formats/lines/line_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "base/random.h"
#include "cpp/support/line_words.h"
#include "formats/lines/general_number.h"
#include "formats/lines/index_lines.h"
#include "formats/lines/line_run.h"
#include "formats/lines/numbers.h"
#include "formats/lines/versions.h"

namespace ecosort::lines {
namespace {

std::string random_line(Random& random) {
  static const std::string alphabet("aAbB019.,- KM~\t\0\x01\xff\x80", 19);
  static const std::string beginnings[] = {"", "", "http://example.org/", "-0.", "1234567890123456789", "jan", "  12"};
  std::string line = beginnings[random.below(std::size(beginnings))];
  for (std::uint64_t i = random.below(16); i > 0; --i) line += alphabet[random.below(alphabet.size())];
  return line;
}

// Fields of short numbers and texts, mostly as a window of several keys takes them.
std::string random_fields(Random& random) {
  static const std::string values[] = {"0", "7",   "10",    "255",      "100",     "-3",
                                       "-", "1,5", "",      "007",      " 12",     "65536",
                                       "9", "ab",  "a\x01", "12345678", "9999999", "123456789012345678901"};
  std::string line;
  for (std::uint64_t i = 1 + random.below(5); i > 0; --i) {
    line += random.below(8) == 0 ? std::string(150, '1') : values[random.below(std::size(values))];
    if (i > 1) line += random.below(8) == 0 ? ' ' : '.';
  }
  return line;
}

int order_of(const records::KeyWindow& a, const records::KeyWindow& b) { return (a > b) - (a < b); }

// Versions that are alike: what they share is longer than a window, and ends within numbers.
std::string random_version(Random& random) {
  static const std::string parts[] = {"1",
                                      "0",
                                      "00",
                                      "10",
                                      "151",
                                      "256",
                                      "65793",
                                      "33686018",
                                      "144680345676153346",
                                      "18446744073709551616",
                                      "123456789012345678901",
                                      ".",
                                      "~",
                                      "-",
                                      "a",
                                      "lib",
                                      "linux-image-",
                                      "\x01",
                                      "\x80",
                                      "\x02",
                                      "\x7f",
                                      ".tar",
                                      ".gz",
                                      ".~",
                                      ".1",
                                      "..",
                                      "_",
                                      "Z"};
  std::string version = random.below(8) == 0 ? "." : "";
  for (std::uint64_t i = random.below(7); i > 0; --i) version += parts[random.below(std::size(parts))];
  return version;
}

class LineWindows : public testing::TestWithParam<std::vector<std::string>> {};

void expect_windows_to_agree(const LineOrder& order, const std::function<std::string(Random&)>& random_row) {
  Random random(1);
  for (int i = 0; i < 20'000; ++i) {
    const std::string a = random_row(random),
                      b = random.below(4) == 0 ? a.substr(0, random.below(a.size() + 1)) : random_row(random);
    const int windows = order_of(order.window(a), order.window(b));
    const int relation = order.compare(a, b);
    if (windows != 0) {
      ASSERT_EQ(windows < 0, relation < 0) << a << "|" << b;
      continue;
    }
    unsigned level = 0;
    if (tie_is_decided(order, order.window(a), level)) {
      ASSERT_EQ(relation, 0) << a << "|" << b;
    } else {
      ASSERT_EQ(order.compare(a, b, level), relation) << a << "|" << b;
    }
  }
}

TEST_P(LineWindows, NeverContradictTheComparison) {
  const LineOrder order(order_of_words(GetParam()));
  expect_windows_to_agree(order, random_line);
  expect_windows_to_agree(order, random_fields);
}

// A row whose end and window show at once has those that are found one after the other; what follows it is no part of it.
TEST_P(LineWindows, ShowWhereARowEndsWhereTheyHoldAllOfIt) {
  const LineOrder order(order_of_words(GetParam()));
  Random random(3);
  std::size_t shown = 0;
  for (int i = 0; i < 5000; ++i) {
    const std::string line = random.below(4) == 0 ? std::to_string(random.below(1'000'000'000)) : random_line(random);
    const std::string next = random.coin() ? "\n1\n" : " 7\n";
    const std::string text = line + '\n' + next + std::string(line_slack_bytes, '\n');
    records::KeyWindow window{};
    ASSERT_EQ(order.plain_row_end(text.data(), text.data() + line.size(), window), nullptr) << line;
    const char* const end = order.plain_row_end(text.data(), text.data() + line.size() + 1, window);
    if (end == nullptr) continue;
    ++shown;
    ASSERT_EQ(static_cast<std::size_t>(end - text.data()), line.size()) << line;
    ASSERT_EQ(order_of(window, order.window(line)), 0) << line;
  }
  const std::string first = GetParam().empty() ? "" : GetParam().front();
  if (first.empty() || first == "-n" || first == "-r") {
    EXPECT_GT(shown, 500U);
  }
}

// `text` is the lines, each with its end.
void expect_sorted_as_by_comparing(const LineOrder& order, std::vector<std::string> lines, const std::string& text) {
  MemoryBudget memory(8 << 20U);
  LineRun run;
  run.memory = memory.allocate(2 << 20U, "run");
  std::copy(text.begin(), text.end(), run.bytes());
  std::vector<DuplicateFilter> none;
  const Indexed indexed = index_lines(run, order, 0, text.size(), SIZE_MAX, 2, none);
  ASSERT_EQ(indexed.lines, lines.size());
  ASSERT_EQ(indexed.end, text.size());
  sort_index(run, order, 2);
  std::stable_sort(lines.begin(), lines.end(),
                   [&](const std::string& a, const std::string& b) { return order.compare(a, b) < 0; });
  for (std::size_t i = 0; i < lines.size(); ++i) ASSERT_EQ(run.line(run.entries()[i]), lines[i]) << i;
}

TEST_P(LineWindows, SortAnIndexAsAStableSortByComparing) {
  const LineOrder order(order_of_words(GetParam()));
  Random random(2);
  std::vector<std::string> lines;
  std::string text;
  for (int i = 0; i < 5000; ++i) {
    const std::string line = random.coin() ? random_line(random) : random_fields(random);
    lines.push_back(random.below(3) == 0 && !lines.empty() ? lines[random.below(lines.size())] : line);
    text += lines.back() + '\n';
  }
  expect_sorted_as_by_comparing(order, lines, text);
}

// Versions have long beginnings in common here, so that deeper windows decide, too.
class VersionWindows : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(VersionWindows, NeverContradictTheComparison) {
  const LineOrder order(order_of_words(GetParam()));
  Random random(3);
  for (int i = 0; i < 200'000; ++i) {
    const std::string common = random.coin() ? random_version(random) : "";
    const std::string a = common + random_version(random), b = common + random_version(random);
    const int relation = order.compare(a, b);
    for (std::size_t depth = 0;; depth += LineOrder::window_bytes) {
      const records::KeyWindow window = order.window(a, 0, depth);
      if (const int windows = order_of(window, order.window(b, 0, depth)); windows != 0) {
        ASSERT_EQ(windows < 0, relation < 0) << a << "|" << b << " at " << depth;
        break;
      }
      if (!order.is_cut(window, 0)) {
        ASSERT_EQ(order.compare(a, b, 1), relation) << a << "|" << b;
        break;
      }
      if (!order.has_deeper_window(window, 0)) break;
    }
  }
}

TEST_P(VersionWindows, SortAnIndexAsAStableSortByComparing) {
  const LineOrder order(order_of_words(GetParam()));
  Random random(4);
  std::vector<std::string> lines;
  std::string text;
  for (int i = 0; i < 8000; ++i) {
    lines.push_back((random.coin() ? "linux-image-" : "") + random_version(random));
    text += lines.back() + '\n';
  }
  expect_sorted_as_by_comparing(order, lines, text);
}

INSTANTIATE_TEST_SUITE_P(Options, VersionWindows,
                         testing::Values(std::vector<std::string>{"-V"}, std::vector<std::string>{"-Vr"},
                                         std::vector<std::string>{"-V", "-f"}, std::vector<std::string>{"-V", "-s"}));

INSTANTIATE_TEST_SUITE_P(Options, LineWindows,
                         testing::Values(std::vector<std::string>{}, std::vector<std::string>{"-r"},
                                         std::vector<std::string>{"-n"}, std::vector<std::string>{"-nr", "-s"},
                                         std::vector<std::string>{"-g"}, std::vector<std::string>{"-h"},
                                         std::vector<std::string>{"-M"}, std::vector<std::string>{"-V"},
                                         std::vector<std::string>{"-R"}, std::vector<std::string>{"-df"},
                                         std::vector<std::string>{"-i", "-u"}, std::vector<std::string>{"-k2,2", "-k1.2r"},
                                         std::vector<std::string>{"-t.", "-k2n", "-s"}, std::vector<std::string>{"-gr"},
                                         std::vector<std::string>{"-t,", "-k2,2g"}, std::vector<std::string>{"-gf", "-s"},
                                         std::vector<std::string>{"-Vr", "-f"},
                                         std::vector<std::string>{"-t.", "-k1,1n", "-k2,2n", "-k3,3n", "-k4,4n"},
                                         std::vector<std::string>{"-t.", "-k2,2n", "-k1,1nr", "-s"},
                                         std::vector<std::string>{"-t.", "-k1,1", "-k2,2nr", "-k3,3r", "-u"},
                                         std::vector<std::string>{"-t.", "-k3,3r", "-k1,1n", "-k2,2"},
                                         std::vector<std::string>{"-t1", "-k1,1n", "-k2,2n"},
                                         std::vector<std::string>{"-k1,1n", "-k2b,2n", "-k3,3f"}));

TEST(LineIndex, TakesOnlyWholeLinesAndNoMoreThanThereIsRoomFor) {
  const LineOrder order({});
  MemoryBudget memory(1 << 20U);
  LineRun run;
  run.memory = memory.allocate(64 << 10U, "run");
  const std::string text = "b\n\na\nrest";
  std::copy(text.begin(), text.end(), run.bytes());
  std::vector<DuplicateFilter> none;
  EXPECT_EQ(index_lines(run, order, 0, text.size(), 2, 1, none).end, 3U);
  EXPECT_EQ(run.count, 2U);
  EXPECT_EQ(index_lines(run, order, 3, text.size(), 9, 1, none).end, 5U);
  EXPECT_EQ(index_lines(run, order, 5, text.size(), 9, 1, none).lines, 0U);
  sort_index(run, order, 1);
  EXPECT_EQ(run.line(run.entries()[0]), "");
  EXPECT_EQ(run.line(run.entries()[2]), "b");
}

TEST(Digests, AreThoseOfTheStandard) {
  const Digest salt{'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'p'};
  const Digest alphabet{0xc3, 0xfc, 0xd3, 0xd7, 0x61, 0x92, 0xe4, 0x00, 0x7d, 0xfb, 0x49, 0x6c, 0xca, 0x67, 0xe1, 0x3b};
  EXPECT_EQ(md5(salt, "qrstuvwxyz"), alphabet);  // RFC 1321, A.5
}

TEST(Numbers, PassOverSeparatorsOfThousandsBeforeThePoint) {
  const auto order = [](Text a, Text b) { return compare(*SeparatedDecimal(a), *SeparatedDecimal(b)); };
  EXPECT_EQ(order("1\x80"
                  "234\x80\x80"
                  "5.5",
                  "12345.5"),
            0);
  EXPECT_EQ(order("-\x80"
                  "12",
                  "-12"),
            0);
  EXPECT_EQ(order("\x80-12", "0"), 0);  // the sign is in front
  EXPECT_EQ(order("1.\x80"
                  "5",
                  "1"),
            0);
  EXPECT_EQ(order("1\x81"
                  "2",
                  "1"),
            0);
  EXPECT_LT(order("9",
                  "1\x80"
                  "0"),
            0);
}

TEST(Versions, OrderAsTheManualSays) {
  const std::vector<std::string> ordered{"", ".", "..", ".a", "8.10~", "8.10", "8.10.1", "8.49", "8.100", "a1", "a02", "a10"};
  for (std::size_t i = 0; i + 1 < ordered.size(); ++i) EXPECT_LT(compare_versions(ordered[i], ordered[i + 1]), 0) << ordered[i];
}

}  // namespace
}  // namespace ecosort::lines
