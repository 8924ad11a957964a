// Codes and the tree that chooses by them, against the order of the format, on rows in memory.
#include "engine/rows/merge_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "formats/csv/csv_format.h"
#include "formats/lines/line_order.h"

namespace ecosort::engine::rows {
namespace {

using Rows = std::vector<std::string>;

// Rows have bytes behind them that can be read, as in a run block.
class MemoryRows {
 public:
  explicit MemoryRows(const Rows& rows) {
    for (const std::string& row : rows) rows_.push_back(row + '\n' + std::string(lines::line_slack_bytes, '\xff'));
  }
  bool put_next(MergeCursor& cursor) {
    cursor.exhausted = next_ == rows_.size();
    if (cursor.exhausted) return false;
    const std::string& row = rows_[next_++];
    cursor.at = row.data();
    cursor.line_end = row.data() + row.size() - lines::line_slack_bytes - 1;
    cursor.has_chain = false;
    return true;
  }

 private:
  std::deque<std::string> rows_;
  std::size_t next_ = 0;
};

// Holds what a tree merges: a cursor for each run, numbered in their order.
struct Inputs {
  explicit Inputs(const std::vector<Rows>& runs) {
    for (const Rows& run : runs) {
      sources.emplace_back(run);
      cursors.push_back(std::make_unique<MergeCursor>());
      cursors.back()->index = static_cast<std::uint32_t>(cursors.size() - 1);
    }
  }
  [[nodiscard]] bool put_next(MergeCursor& cursor) { return sources[cursor.index].put_next(cursor); }

  std::deque<MemoryRows> sources;
  std::vector<std::unique_ptr<MergeCursor>> cursors;
};

// Returns what goes out, each row behind the number of its run. `codes`: null where windows decide.
std::vector<std::string> merged(const formats::RowFormat& format, const std::vector<Rows>& runs, const RowCodes* codes) {
  Inputs inputs(runs);
  MergeTree tree(format, inputs.cursors);
  if (codes != nullptr) tree.use(*codes);
  const auto take_next = [&](MergeCursor& cursor, Text last) {
    if (!inputs.put_next(cursor)) return;
    cursor.window = codes != nullptr ? codes->code(cursor.line(), RowCodes::common(cursor.line(), last), cursor.keys)
                                     : format.window(cursor.line(), 0, 0);
  };
  for (const auto& cursor : inputs.cursors) take_next(*cursor, {});
  std::vector<std::string> out;
  for (tree.build(); !tree.empty(); tree.replay()) {
    MergeCursor& cursor = tree.winner();
    const Text last = cursor.line();
    out.push_back(std::to_string(cursor.index) + ' ' + std::string(last));
    take_next(cursor, last);
  }
  return out;
}

// The same by codes whose pieces are windows of keys.
std::vector<std::string> merged_by_chain_codes(const formats::RowFormat& format, const std::vector<Rows>& runs) {
  Inputs inputs(runs);
  MergeTree tree(format, inputs.cursors);
  tree.use_chain_codes();
  const auto take_next = [&](MergeCursor& cursor) {
    if (!inputs.put_next(cursor)) return false;
    cursor.window = format.window(cursor.line(), 0, 0);
    return true;
  };
  for (const auto& cursor : inputs.cursors)
    if (take_next(*cursor)) MergeTree::code(*cursor);
  std::vector<std::string> out;
  for (tree.build(); !tree.empty(); tree.replay()) {
    MergeCursor& cursor = tree.winner();
    const Text last = cursor.line();
    out.push_back(std::to_string(cursor.index) + ' ' + std::string(last));
    const records::KeyWindow window = tree.first_window(cursor);
    bool has_chain = cursor.has_chain;
    lines::KeyChain chain = std::as_const(tree).chain_of(cursor);
    if (!take_next(cursor)) continue;
    if (cursor.window == window)
      tree.code_behind(cursor, last, chain, has_chain);
    else
      MergeTree::code(cursor);
  }
  return out;
}

// The same by looking at all heads for each row.
std::vector<std::string> expected(const formats::RowFormat& format, const std::vector<Rows>& runs) {
  std::vector<std::size_t> next(runs.size());
  std::vector<std::string> out;
  while (true) {
    std::size_t best = runs.size();
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (next[i] == runs[i].size()) continue;
      if (best == runs.size() || format.compare(runs[i][next[i]], runs[best][next[best]]) < 0) best = i;
    }
    if (best == runs.size()) return out;
    out.push_back(std::to_string(best) + ' ' + runs[best][next[best]++]);
  }
}

std::vector<Rows> dealt(const formats::RowFormat& format, const Rows& rows, std::size_t count, std::mt19937& random) {
  std::vector<Rows> runs(count);
  for (const std::string& row : rows) runs[random() % count].push_back(row);
  for (Rows& run : runs)
    std::ranges::stable_sort(run, [&](const std::string& a, const std::string& b) { return format.compare(a, b) < 0; });
  return runs;
}

// Few letters, zero bytes among them, behind beginnings that grow out of each other: rows that are equal, empty, or differ at and
// beside the borders of pieces.
Rows rows_with_common_beginnings(std::size_t count, std::mt19937& random) {
  Rows rows;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string beginning = rows.empty() || random() % 4 == 0 ? "" : rows[random() % rows.size()];
    std::string row = beginning.substr(0, random() % (beginning.size() + 1));
    for (std::size_t more = random() % 12; more > 0; --more) row.push_back("\0ab\xff"[random() % 4]);
    rows.push_back(row);
  }
  return rows;
}

// Codes whose first piece is shorter by so many bytes.
RowCodes codes_with(const formats::RowFormat& format, std::size_t lacking) {
  RowCodes codes(format);
  const std::size_t common = lines::window_bytes - lacking;
  codes.align(std::span(&common, 1));
  return codes;
}

TEST(MergeTree, GivesTheOrderOfWholeLinesWhateverTheyBeginWith) {
  for (const bool reverse : {false, true}) {
    lines::LineOrderTerms terms;
    terms.reverse = reverse;
    const lines::LineOrder format(terms);
    for (unsigned seed = 0; seed < 66; ++seed) {
      std::mt19937 random(seed);
      const std::vector<Rows> runs = dealt(format, rows_with_common_beginnings(120, random), 1 + seed % 9, random);
      const RowCodes codes = codes_with(format, seed % lines::window_bytes);
      ASSERT_EQ(merged(format, runs, &codes), expected(format, runs)) << "seed " << seed << " reverse " << reverse;
      ASSERT_EQ(merged(format, runs, nullptr), expected(format, runs)) << "seed " << seed << " reverse " << reverse;
    }
  }
}

// 255 pieces of 11 bytes can be counted.
TEST(MergeTree, GivesTheOrderOfLinesThatAgreeInMoreThanCodesCount) {
  const lines::LineOrder format(lines::LineOrderTerms{});
  for (const std::size_t lacking : {0U, 1U, 5U, 10U}) {
    std::mt19937 random(1);
    Rows rows;
    for (const std::size_t common :
         {0UL, 10UL, 11UL, 12UL, 2793UL, 2794UL, 2795UL, 2800UL, 2804UL, 2805UL, 2806UL, 2816UL, 600000UL})
      for (const char* end : {"", "a", "b", "bc", "b"}) rows.push_back(std::string(common, 'x') + end);
    const std::vector<Rows> runs = dealt(format, rows, 4, random);
    const RowCodes codes = codes_with(format, lacking);
    EXPECT_TRUE(merged(format, runs, &codes) == expected(format, runs)) << lacking;
  }
}

// So many letters agree, and then others follow, or none: at and beside all steps in which they are looked at.
TEST(RowCodes, FindInHowManyBytesRowsAgree) {
  for (std::size_t size = 0; size < 70; ++size)
    for (std::size_t at = 0; at <= size; ++at) {
      const std::string row(size, 'a');
      std::string other = row.substr(0, at);
      EXPECT_EQ(RowCodes::common(row, other), at);
      other += 'b' + row;
      EXPECT_EQ(RowCodes::common(row, other), at);
      EXPECT_EQ(RowCodes::common(other, row), at);
    }
}

TEST(RowCodes, LetPiecesBeginWhereRowsDiffer) {
  const lines::LineOrder format(lines::LineOrderTerms{});
  const std::string rows = "2026-11-24T19:23:27.535Z\n2026-11-24T19:23:27.536Z\n" + std::string(lines::line_slack_bytes, ' ');
  const std::vector<std::size_t> common(20, 22);
  RowCodes codes(format);
  codes.align(common);
  EXPECT_LT(codes.code(rows.data(), 22).prefix, codes.code(rows.data() + 25, 22).prefix);
}

lines::SortKey field(std::size_t number, lines::KeyKind kind, bool reverse = false) {
  lines::SortKey key;
  key.begin_field = key.end_field = number;
  key.kind = kind;
  key.reverse = reverse;
  return key;
}

TEST(MergeTree, GivesTheOrderOfSeveralKeys) {
  for (const bool stable : {false, true}) {
    lines::LineOrderTerms terms;
    terms.keys = {field(0, lines::KeyKind::numeric), field(1, lines::KeyKind::text, true), field(2, lines::KeyKind::version),
                  field(3, lines::KeyKind::text), field(4, lines::KeyKind::numeric)};
    terms.last_resort = !stable;
    terms.separator = '.';
    const lines::LineOrder format(terms);
    for (unsigned seed = 0; seed < 40; ++seed) {
      std::mt19937 random(seed);
      Rows rows;
      for (int i = 0; i < 100; ++i) {
        const std::string text(random() % 30, static_cast<char>('a' + random() % 2));
        rows.push_back(std::to_string(random() % 3) + '.' + text + ".v" + std::to_string(random() % 12) + '~' + '.' +
                       std::string(random() % 2 * 40, 'q') + std::to_string(random() % 3) + ".0" + std::to_string(random() % 2));
      }
      const std::vector<Rows> runs = dealt(format, rows, 1 + seed % 7, random);
      ASSERT_EQ(merged(format, runs, nullptr), expected(format, runs)) << "seed " << seed << " stable " << stable;
      ASSERT_EQ(merged_by_chain_codes(format, runs), expected(format, runs)) << "seed " << seed << " stable " << stable;
    }
  }
}

// Few keys, some of which no window holds, in front of rows that begin alike; fields that lack, and keys that end with the row.
TEST(MergeTree, GivesTheOrderOfRowsBehindOtherKeys) {
  using lines::KeyKind;
  const std::vector<std::vector<lines::SortKey>> orders{
      {field(1, KeyKind::numeric)},       {field(1, KeyKind::text, true)},
      {field(1, KeyKind::version)},       {field(0, KeyKind::numeric), field(1, KeyKind::text)},
      {field(2, KeyKind::numeric, true)}, {field(1, KeyKind::numeric), lines::SortKey{}}};
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    lines::LineOrderTerms terms;
    terms.keys = orders[seed % orders.size()];
    terms.reverse = random() % 2 == 0;
    terms.last_resort = terms.keys.size() < 2 || random() % 2 == 0;
    if (random() % 4 != 0) terms.separator = '.';
    const lines::LineOrder format(terms);
    if (!RowCodes::can_code(format)) continue;
    Rows rows;
    const char* const keys[] = {"1", "01", "2", "-3", "", "12345678901234567890123456", "12345678901234567890123457", "1 2"};
    for (int i = 0; i < 120; ++i) {
      std::string row = std::string(random() % 3 * 9, 'x') + std::to_string(random() % 2) + '.' + keys[random() % 8];
      if (random() % 5 != 0) row += '.' + std::string(random() % 3 * 8, 'y') + std::to_string(random() % 4);
      rows.push_back(row);
    }
    const std::vector<Rows> runs = dealt(format, rows, 1 + seed % 7, random);
    const RowCodes codes = codes_with(format, random() % lines::window_bytes);
    ASSERT_EQ(merged(format, runs, &codes), expected(format, runs)) << "seed " << seed;
  }
}

// A code of 254 pieces of a row, behind its other keys, says no less than of 255.
TEST(MergeTree, GivesTheOrderOfLongRowsBehindOtherKeys) {
  lines::LineOrderTerms terms;
  terms.keys = {field(0, lines::KeyKind::numeric)};
  const lines::LineOrder format(terms);
  std::mt19937 random(1);
  Rows rows;
  for (const std::size_t common : {0UL, 2780UL, 2781UL, 2783UL, 2784UL, 2792UL, 2794UL, 2803UL, 2805UL, 60000UL})
    for (const char* end : {"", "a", "b", "bc", "b"}) rows.push_back("7 " + std::string(common, 'x') + end);
  const std::vector<Rows> runs = dealt(format, rows, 4, random);
  for (const std::size_t lacking : {0U, 1U, 5U, 10U}) {
    const RowCodes codes = codes_with(format, lacking);
    EXPECT_TRUE(merged(format, runs, &codes) == expected(format, runs)) << lacking;
  }
}

// The keys of a row that agrees in the bytes of those of the one before are not looked for: they would be others here.
TEST(RowCodes, TakeTheKeysOfTheRowBefore) {
  lines::LineOrderTerms terms;
  terms.keys = {field(1, lines::KeyKind::numeric)};
  terms.separator = '.';
  const lines::LineOrder format(terms);
  const RowCodes codes(format);
  const std::string before = "10.2.x", row = "10.3.y" + std::string(1, '\n') + std::string(lines::line_slack_bytes, ' ');
  const RowKeys of_before = codes.keys_of(before);
  EXPECT_EQ(of_before.bytes, 5);
  EXPECT_TRUE(of_before.are_all);
  RowKeys keys = of_before;
  (void)codes.code(Text(row).substr(0, 6), 5, keys);
  EXPECT_TRUE(keys.window == of_before.window);
  (void)codes.code(Text(row).substr(0, 6), 4, keys);
  EXPECT_FALSE(keys.window == of_before.window);
}

TEST(MergeTree, GivesTheOrderOfColumns) {
  csv::CsvTerms terms;
  terms.keys.resize(2);
  terms.keys[0].name = "city";
  terms.keys[1].name = "count";
  terms.keys[1].type = ValueType::number;
  csv::CsvFormat format(terms);
  (void)format.take_first_row("", "id,city,count");
  for (unsigned seed = 0; seed < 30; ++seed) {
    std::mt19937 random(seed);
    Rows rows;
    for (int i = 0; i < 120; ++i)
      rows.push_back(std::to_string(i) + ",San Francisco " + std::string(random() % 3, 'x') + "," + std::to_string(random() % 4));
    const std::vector<Rows> runs = dealt(format, rows, 1 + seed % 6, random);
    ASSERT_EQ(merged(format, runs, nullptr), expected(format, runs)) << "seed " << seed;
    ASSERT_EQ(merged_by_chain_codes(format, runs), expected(format, runs)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace ecosort::engine::rows
