// The kernels of CSV find, split and copy what a plain state machine does, at every instruction set of this machine.
#include "formats/csv/csv_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "formats/csv/check_row.h"

namespace ecosort::csv {
namespace {

class CsvKernelsOf : public testing::TestWithParam<CpuLevel> {
 protected:
  void SetUp() override {
    if (GetParam() > detected_cpu_level()) GTEST_SKIP() << "this processor lacks it";
  }
  [[nodiscard]] const CsvKernels& kernels() const { return csv_kernels_of(GetParam()).simple; }
  [[nodiscard]] std::vector<const CsvKernels*> kernels_for(Dialect dialect) const {
    const CsvKernelsOfLevel& both = csv_kernels_of(GetParam());
    return dialect.is_simple() ? std::vector{&both.simple, &both.any} : std::vector{&both.any};
  }
};

const std::vector<Dialect> dialects{{},
                                    {.quote = std::nullopt},
                                    {.escape = '\\'},
                                    {.quote = std::nullopt, .escape = '\\'},
                                    {.delimiter = Delimiter(",,")},
                                    {.delimiter = Delimiter(",;,"), .escape = '\\'},
                                    {.delimiter = Delimiter(",,,,,,,,"), .quote = std::nullopt}};

std::string random_text(Random& random, std::size_t size, std::uint64_t rarity) {
  static constexpr Text special = ",\"\n\r\",,;\\\\";
  std::string text(size, '\0');
  for (char& c : text) c = random.below(rarity) == 0 ? special[random.below(special.size())] : static_cast<char>(random.next());
  return text;
}

// A byte at a time.
struct Plain {
  std::vector<std::uint32_t> borders;
  std::size_t rows = 0;
  bool has_quotes = false, ends_inside = false;
  formats::Inside inside;

  Plain(Text text, Dialect dialect, formats::Inside before = {}) : inside(before) {
    has_quotes = before.escape && !text.empty();
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool is_escaped = std::exchange(inside.escape, false), is_end = text[i] == '\n';
      ends_inside |= is_end && (is_escaped || inside.quotes);
      if (is_escaped) continue;
      if (text[i] == dialect.quote) {
        inside.quotes = !inside.quotes;
        has_quotes = true;
      } else if (text[i] == dialect.escape) {
        has_quotes = inside.escape = true;
      } else if (is_end || text.substr(i).starts_with(dialect.delimiter.text())) {
        if (!is_end) i += dialect.delimiter.size() - 1;
        if (!inside.quotes) borders.push_back(static_cast<std::uint32_t>(i));
        rows += !inside.quotes && is_end ? 1 : 0;
      }
    }
  }
};

// Returns whether a row of the text, each of which begins outside of quotes, has a quote that may not be there. The rest that
// ends within quotes may have one as well: it is not said.
bool is_wrong(Text text, Dialect dialect, bool& is_rest_wrong) {
  std::size_t begin = 0;
  for (const std::uint32_t border : Plain(text, dialect).borders) {
    if (text[border] != '\n') continue;
    if (split_row(text.substr(begin, border - begin), dialect).fault) return true;
    begin = border + 1;
  }
  is_rest_wrong = split_row(text.substr(begin), dialect, false).fault.has_value();
  return false;
}

TEST_P(CsvKernelsOf, ScanAsAPlainStateMachineDoes) {
  Random random(1);
  const auto scan = std::make_unique<Scan>();
  int wrong_texts = 0, right_texts = 0;
  for (const Dialect dialect : dialects) {
    for (const std::uint64_t rarity : {1U, 2U, 8U, 40U, 400U}) {
      for (std::size_t size = 0; size < 600; ++size) {
        const std::string text = random_text(random, size, rarity);
        const Plain plain(text, dialect);
        bool is_rest_wrong = false;
        const bool wrong = is_wrong(text, dialect, is_rest_wrong);
        ++(wrong ? wrong_texts : right_texts);
        for (const CsvKernels* const of : kernels_for(dialect)) {
          of->scan(text.data(), size, dialect, *scan);
          ASSERT_EQ(std::vector<std::uint32_t>(scan->offsets, scan->offsets + scan->count), plain.borders);
          ASSERT_EQ(scan->rows, plain.rows);
          ASSERT_EQ(scan->has_quotes, plain.has_quotes);
          ASSERT_EQ(scan->ends_inside, plain.ends_inside);
          if (wrong || !is_rest_wrong) {
            ASSERT_EQ(scan->is_wrong, wrong) << text;
          }
        }
      }
    }
  }
  EXPECT_GT(wrong_texts, 1000);
  EXPECT_GT(right_texts, 1000);
}

TEST_P(CsvKernelsOf, FindTheNextEndFromWithinQuotesOrFromOutside) {
  Random random(2);
  for (const Dialect dialect : dialects) {
    for (const std::uint64_t rarity : {1U, 3U, 30U, 300U}) {
      for (std::size_t size = 0; size < 500; ++size) {
        const std::string text = random_text(random, size, rarity);
        const formats::Inside before{dialect.quote && random.below(2) == 1, dialect.escape && random.below(2) == 1};
        Dialect ends = dialect;
        ends.delimiter = '\n';
        const Plain plain(text, ends, before);
        for (const CsvKernels* const of : kernels_for(dialect)) {
          formats::Inside inside = before;
          const char* const found = of->find(text.data(), text.data() + size, dialect, inside);
          ASSERT_EQ(found, plain.borders.empty() ? nullptr : text.data() + plain.borders.front());
          if (size == 0) continue;
          ASSERT_EQ(inside.quotes, found == nullptr && plain.inside.quotes);
          ASSERT_EQ(inside.escape, found == nullptr && plain.inside.escape);
        }
      }
    }
  }
}

TEST_P(CsvKernelsOf, FindEveryFieldBetweenTheBordersOfARow) {
  Random random(7);
  for (const Dialect dialect : dialects) {
    for (int i = 0; i < 1000; ++i) {
      const std::string text = random_text(random, 1 + random.below(300), 3);
      const Plain plain(text, dialect);
      const std::uint32_t border = plain.borders.empty() ? 0 : plain.borders[random.below(plain.borders.size())];
      const std::size_t size = plain.borders.empty() ? text.size() : border;
      std::size_t begin = 0, column = 0;
      for (const std::uint32_t end : Plain(Text(text).substr(0, size), dialect).borders) {
        if (text[end] == '\n') break;
        for (const CsvKernels* const of : kernels_for(dialect)) {
          const auto found = of->field(text.data(), size, dialect, column);
          ASSERT_EQ(found.begin, begin);
          ASSERT_EQ(found.end, end + 1 - dialect.delimiter.size());
        }
        begin = end + 1;
        ++column;
      }
    }
  }
}

TEST_P(CsvKernelsOf, FindEveryFieldOfARow) {
  Random random(3);
  const Dialect dialect;
  for (int i = 0; i < 3000; ++i) {
    const std::uint64_t columns = 1 + random.below(90);
    std::string text;
    std::vector<std::pair<std::size_t, std::size_t>> fields;
    for (std::uint64_t column = 0; column < columns; ++column) {
      if (column > 0) text += ',';
      const std::size_t begin = text.size();
      std::string value(random.below(random.below(10) == 0 ? 200 : 6), 'x');
      if (random.below(4) == 0) {
        for (char& c : value) c = random.below(3) == 0 ? ',' : '\n';
        value = '"' + value + (random.below(2) == 0 ? "\"\"" : "") + '"';
      }
      text += value;
      fields.emplace_back(begin, text.size());
    }
    for (std::uint64_t column = 0; column < columns; ++column) {
      const auto [begin, end] = kernels().field(text.data(), text.size(), dialect, column);
      ASSERT_EQ(begin, fields[column].first) << text;
      ASSERT_EQ(end, fields[column].second) << text;
    }
    const auto behind = kernels().field(text.data(), text.size(), dialect, columns);
    ASSERT_EQ(behind.begin, behind.end);
  }
}

// Nothing behind the room is read, and a quote or a newline behind the row changes nothing.
TEST_P(CsvKernelsOf, FindAPlainRowAndItsFieldAtOnce) {
  Random random(6);
  int found = 0;
  for (const bool has_quote : {true, false}) {
    const Dialect dialect{.delimiter = ';', .quote = has_quote ? std::optional('"') : std::nullopt};
    for (int i = 0; i < 40'000; ++i) {
      std::string text;
      for (std::uint64_t left = random.below(random.below(4) == 0 ? 400 : 140); left > 0; --left)
        text += random.below(9) == 0 ? ';' : 'x';
      if (random.below(8) != 0) text += '\n';
      for (std::uint64_t left = random.below(200); left > 0; --left) text += ";\n\"x"[random.below(4)];
      if (random.below(10) == 0 && !text.empty()) text[random.below(text.size())] = '"';
      const std::vector<char> exact(text.begin(), text.end());
      const std::size_t column = random.below(5), end = text.find('\n');
      const CsvKernels::PlainRow row = kernels().plain_row(exact.data(), exact.size(), dialect, column);
      const Text before = Text(text).substr(0, end);
      const bool is_plain = end != std::string::npos && !(has_quote && before.find('"') != Text::npos) &&
                            static_cast<std::size_t>(std::ranges::count(before, ';')) >= column;
      ASSERT_EQ(row.size, is_plain ? end : row.none) << text;
      if (!is_plain) continue;
      ++found;
      const auto [field_begin, field_end] = kernels().field(exact.data(), end, dialect, column);
      ASSERT_EQ(row.begin(), field_begin) << text;
      ASSERT_EQ(row.end(), field_end) << text;
    }
  }
  EXPECT_GT(found, 20'000);
}

TEST_P(CsvKernelsOf, GatherRowsWithTheirEndsOrNotAtAll) {
  Random random(4);
  for (std::size_t length = 0; length < 400; ++length) {
    std::string row(length, 'x');
    if (length > 2) {
      row.front() = row.back() = '"';
      for (std::size_t i = 1; i + 1 < length; ++i)
        if (random.below(5) == 0) row[i] = '\n';
    }
    const std::string text = row + '\n' + std::string(lines::line_slack_bytes, '\n');
    const sorting::Entry entry{};
    for (const std::size_t room : {length + 1, length + 2 * lines::copy_step, std::size_t{0}}) {
      std::string to(room + 1, 'z');
      std::uint32_t size = 0;
      const lines::GatherTask task{.text = text.data(),
                                   .next = &entry,
                                   .end = &entry + 1,
                                   .to = to.data(),
                                   .room = room,
                                   .terminator = '\n',
                                   .quote = '"'};
      const std::size_t rows = kernels().gather(task, &size);
      ASSERT_EQ(size, rows == 0 ? 0 : length + 1);
      ASSERT_TRUE(rows == 1 || room < length + 1 + lines::copy_step) << length << ' ' << room;
      ASSERT_EQ(to.substr(0, size), text.substr(0, size));
      ASSERT_EQ(to.back(), 'z');
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, CsvKernelsOf, testing::ValuesIn(all_cpu_levels),
                         [](const auto& level) { return std::string(to_string(level.param)); });

}  // namespace
}  // namespace ecosort::csv
