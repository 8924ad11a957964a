// The first window of several keys orders rows of csv and jsonl as the comparison does, and says where a tie goes on.
#include "formats/lines/joint_window.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"
#include "formats/csv/csv_format.h"
#include "formats/jsonl/jsonl_format.h"
#include "formats/lines/index_lines.h"

namespace ecosort::lines {
namespace {

using Words = std::vector<std::string>;

template <class Format>
void expect_windows_to_agree(const Format& format, const std::vector<std::string>& rows) {
  Random random(3);
  for (int i = 0; i < 20'000; ++i) {
    const std::string &a = rows[random.below(rows.size())], &b = rows[random.below(rows.size())];
    const records::KeyWindow x = format.window(a), y = format.window(b);
    const int relation = format.compare(a, b);
    if (x != y) {
      ASSERT_TRUE(x < y ? relation < 0 : relation > 0) << a << " | " << b;
      continue;
    }
    unsigned level = 0;
    const bool is_decided = tie_is_decided(format, x, level);
    ASSERT_EQ(is_decided ? 0 : format.compare(a, b, level), relation) << a << " | " << b << " from " << level;
  }
}

template <std::size_t n>
const std::string& one_of(const std::string (&values)[n], Random& random) {
  return values[random.below(n)];
}

std::string random_csv(Random& random) {
  static const std::string values[] = {"",
                                       "0",
                                       "7",
                                       "-3",
                                       "100",
                                       "1e300",
                                       "0.50",
                                       "-0.001",
                                       "x",
                                       "ab",
                                       "abcdefghijklmnop",
                                       "\"q\"\"uote\"",
                                       "\xff",
                                       "\xfe\xfe",
                                       "\x01",
                                       "\x02z",
                                       "2024-05-01",
                                       "2024-05-01T10:00:00.25Z",
                                       "2024-05-01T10:00:00.3Z",
                                       "1969-12-31T23:59:59Z",
                                       "999999999999999999999",
                                       "-999999999999999999998"};
  return one_of(values, random) + ',' + one_of(values, random) + ',' + one_of(values, random);
}

std::string random_json(Random& random) {
  static const std::string values[] = {"null",
                                       R"("")",
                                       "1",
                                       "-2.5",
                                       "1e20",
                                       R"("x")",
                                       R"("2024-01-01")",
                                       R"("2024-01-01T00:00:00.5")",
                                       R"("\u0000")",
                                       R"("\u0001\u0000")",
                                       R"("abcdefghijklmnop")"};
  std::string row;
  for (const char name : {'a', 'b', 'c'})
    if (random.below(8) != 0) row += std::string(row.empty() ? "" : ",") + '"' + name + "\":" + one_of(values, random);
  return '{' + row + '}';
}

class JointWindows : public testing::TestWithParam<Words> {};

TEST_P(JointWindows, NeverContradictTheComparison) {
  for (const bool nulls_first : {false, true}) {
    csv::CsvTerms csv_terms;
    jsonl::JsonlTerms json_terms;
    csv_terms.nulls_first = json_terms.nulls_first = nulls_first;
    for (const std::string& words : GetParam()) {
      csv_terms.keys.push_back(ValueKey(words));
      json_terms.keys.push_back(ValueKey(words));
    }
    csv::CsvFormat csv(csv_terms);
    (void)csv.take_first_row("", "a,b,c");
    Random random(1);
    std::vector<std::string> csv_rows, json_rows;
    for (int i = 0; i < 2000; ++i) {
      csv_rows.push_back(random_csv(random));
      json_rows.push_back(random_json(random));
    }
    expect_windows_to_agree(csv, csv_rows);
    expect_windows_to_agree(jsonl::JsonlFormat(json_terms), json_rows);
  }
}

INSTANTIATE_TEST_SUITE_P(Keys, JointWindows,
                         testing::Values(Words{"a:number", "b"}, Words{"a", "b:number:desc"}, Words{"a:date", "b:date:desc", "c"},
                                         Words{"a:desc", "b:desc", "c:integer"}, Words{"b:integer:desc", "a:date", "c"},
                                         Words{"a", "b:nocase", "c"}));

}  // namespace
}  // namespace ecosort::lines
