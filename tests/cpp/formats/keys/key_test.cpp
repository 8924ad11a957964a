// Keys of CSV: windows order values as comparing does, to any depth, and say when they decide.
#include "formats/keys/key.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/errors.h"
#include "base/random.h"
#include "formats/csv/value.h"
#include "formats/keys/date.h"
#include "formats/keys/number.h"
#include "formats/lines/number_bytes.h"

namespace ecosort::keys {
namespace {

using namespace keys;

// A key of each type.
std::vector<ValueKey> keys_of_all_types() {
  std::vector<ValueKey> keys;
  for (const ValueTypeFacts& facts : value_types) keys.emplace_back("name", facts.type);
  keys.back().argument = "0|1|a|aa|2024-01-10T10:00:00.|.";
  keys.emplace_back("name", ValueType::number, false, "decimal=,");
  return keys;
}

std::string digits(Random& random, std::uint64_t most) {
  std::string text;
  for (std::uint64_t i = random.below(most + 1); i > 0; --i)
    text += static_cast<char>('0' + random.below(random.below(2) == 0 ? 10 : 1));
  return text;
}

std::string random_value(Random& random) {
  switch (random.below(11)) {
    case 0:
      return (random.below(2) == 0 ? "-" : "") + digits(random, 18) + "." + digits(random, 30);
    case 1:
      return digits(random, 4) + "e" + (random.below(2) == 0 ? "-" : "") + digits(random, 3);
    case 2:
      return "2024-0" + std::to_string(1 + random.below(9)) + "-1" + digits(random, 1) + "T10:0" +
             std::to_string(random.below(10)) + ":00." + digits(random, 30);
    case 3:
      return "lib-" + digits(random, 25) + "." + digits(random, 3);
    case 4:
      return (random.below(2) == 0 ? "2001:db8::" : "10.0.0.") + std::to_string(random.below(100)) +
             (random.below(2) == 0 ? "" : "/" + std::to_string(random.below(33)));
    case 5:
      return digits(random, 30) + (random.below(2) == 0 ? "K" : "MiB");
    case 6:
      return digits(random, 20) + "m" + digits(random, 30) + "ns";
    case 7:
      return "0x" + digits(random, 40);
    case 8:
      return (random.below(2) == 0 ? "00000000-0000-0000-0000-0000000000" : "00000000-0000-0000-0001-0000000000") +
             std::to_string(10 + random.below(90));
    case 9:
      return random.below(2) == 0 ? "inf" : random.below(2) == 0 ? "yes" : "no";
    default: {
      std::string text(random.below(3) * 10, 'a');
      for (std::uint64_t i = random.below(5); i > 0; --i) text += "aAbB\0\xff"[random.below(6)];
      return text;
    }
  }
}

int relation(records::KeyWindow a, records::KeyWindow b) { return (a > b) - (a < b); }

void check_windows(const Key& key, const std::string& a, const std::string& b) {
  const int order = key.compare(a, b);
  for (std::size_t depth = 0;; depth += 11) {
    ValueKind kind = ValueKind::usual;
    const records::KeyWindow x = key.window(a, depth, kind), y = key.window(b, depth, kind);
    if (const int by_window = relation(x, y); by_window != 0) {
      ASSERT_EQ(by_window, order) << '"' << a << "\" \"" << b << "\" depth " << depth;
      return;
    }
    if (!key.is_cut(x)) {
      ASSERT_EQ(order, 0) << '"' << a << "\" \"" << b << "\" depth " << depth;
      return;
    }
    if (!key.has_deeper_window(x)) return;
  }
}

TEST(CsvKey, WindowsHaveTheOrderOfTheComparison) {
  Random random(1);
  for (ValueKey named : keys_of_all_types()) {
    for (const bool descending : {false, true}) {
      for (const bool nulls_first : {false, true}) {
        named.descends = descending;
        const Key key(named, nulls_first, nullptr);
        std::vector<std::string> values{""};
        for (int i = 0; i < 400; ++i) values.push_back(random_value(random));
        for (int i = 0; i < 20'000; ++i)
          check_windows(key, values[random.below(values.size())], values[random.below(values.size())]);
      }
    }
  }
}

TEST(CsvKey, NumbersThatAreWrittenInManyWaysAreEqual) {
  const Key key(by("").number(), false, nullptr);
  for (const char* one : {"1500", "1.5e3", "+1500.", "0.15E+4", "15e2", " 1500.000 ", "150000e-2", "00001500", ".0015e6"}) {
    ASSERT_EQ(key.compare("1500", one), 0) << one;
    check_windows(key, "1500", one);
  }
  for (const char* none : {"", "-", "+", ".", "e5", "1e", "1e+", "1 2", "1,5", "0x10", "inf", "nan", "1e100000", "--1", "1e5.0"})
    EXPECT_NE(key.kind_of(none), ValueKind::usual) << none;
}

TEST(CsvKey, SizesAndDurationsMayBeginWithAPoint) {
  const Key size({"name", ValueType::size}, false, nullptr), duration({"name", ValueType::duration}, false, nullptr);
  EXPECT_EQ(size.compare(".5K", "512"), 0);
  EXPECT_EQ(duration.compare(".5s", "500ms"), 0);
  for (const char* none : {".", ".K", "-.", "K"}) EXPECT_NE(size.kind_of(none), ValueKind::usual) << none;
  for (const char* none : {".s", "1h.s", ".:00:00"}) EXPECT_NE(duration.kind_of(none), ValueKind::usual) << none;
}

TEST(CsvKey, TimesAreSecondsOfUtc) {
  const auto seconds = [](Text text) { return read_iso_time(text)->seconds; };
  EXPECT_EQ(seconds("1970-01-01"), 0);
  EXPECT_EQ(seconds("2000-03-01"), 951'868'800);
  EXPECT_EQ(seconds("2024-05-01T09:30:15+02:00"), 1'714'548'615);
  EXPECT_EQ(seconds("20240501T073015Z"), 1'714'548'615);
  EXPECT_EQ(seconds("0000-01-01"), -62'167'219'200);
  EXPECT_EQ(seconds("9999-12-31T23:59:59-23:59"), 253'402'300'799 + (23 * 60 + 59) * 60);
  EXPECT_EQ(read_iso_time("2024-05-01T09:30:15.2500")->fraction, "25");
  EXPECT_EQ(seconds("2024"), seconds("2024-01-01"));
  EXPECT_EQ(seconds("2024-05"), seconds("20240501"));
  EXPECT_EQ(seconds("2024-05-01T09"), seconds("2024-05-01T09:00"));
  EXPECT_EQ(seconds("2024-05-01T09+02"), seconds("2024-05-01T07:00Z"));
  EXPECT_EQ(seconds("2024-05-01T24"), seconds("2024-05-02"));
  for (const Text none : {"2024-05-01T", "2024-05-01T9:30", "2024-05-01 09:30 Z", "202405", "2024-", "2024-05-", "2024T09",
                          "2024-05T09", "2024-13", "2024-05-01T09:", "2024-05-01T09 EST", "2024-05-01 UTC", "2024-05-01T09 utc",
                          "2024-05-01T24:30", "2024-W05", "2024-123", "2024-05-01T09:30:15.", "2024-05-01x"})
    EXPECT_FALSE(read_iso_time(none)) << none;
  for (const Text one : {"2024-05-01T09UTC", "2024-05-01 09:00:00 UTC", "2024-05-01T09:00 GMT"})
    EXPECT_EQ(seconds(one), seconds("2024-05-01T09Z")) << one;
  EXPECT_THROW(TimeFormat("%Y%"), UsageError);
  EXPECT_THROW(TimeFormat("%a %H:%M"), UsageError) << "all days are the same";
}

TEST(CsvKey, WeekdaysAreThoseOfTheirDates) {
  const TimeFormat format("%a, %d %b %Y %H:%M:%S %Z");
  EXPECT_EQ(format.read("Wed, 01 May 2024 09:30:00 GMT")->seconds, read_iso_time("2024-05-01T09:30Z")->seconds);
  EXPECT_EQ(format.read("thursday, 1 january 1970 00:00:00 utc")->seconds, 0);
  EXPECT_EQ(format.read("Wed, 31 Dec 1969 00:00:00 UT")->seconds, -86'400);
  EXPECT_FALSE(format.read("Tue, 01 May 2024 09:30:00 GMT"));
  EXPECT_FALSE(format.read("Wed, 01 May 2024 09:30:00 EST"));
}

TEST(CsvKey, TypesWithArgumentsComeBackFromTheirTexts) {
  for (const char* const text : {"a:text@de-u-kn-true", "a:number:decimal=,:desc", "a:b:list:S|M|x:desc", R"(a:list:S\|x:\desc)",
                                 "a:list:x", R"(a:list:\number)"})
    EXPECT_EQ(to_string(ValueKey(text)), text);
  EXPECT_EQ(ValueKey("a:list:S|M:desc"), by("a").list("S|M").descending());
  EXPECT_FALSE(ValueKey(R"(a:list:S|x:\desc)").descends);
  for (const ValueKey& key : {by("a").list("x:desc"), by("a:text@x"), by("a").list("ip")})
    EXPECT_EQ(to_string(ValueKey(to_string(key))), to_string(key));
  EXPECT_EQ(ValueKey(to_string(by("a:text@x"))).name, "a:text@x");
  EXPECT_EQ(ValueKey("a:text@sv"), by("a").text("sv"));
  EXPECT_EQ(ValueKey("a:b:ip"), by("a:b").ip());
  for (const ValueKey& wrong : {by("a").list(), by("a").list("x|y|x"), by("a").number("decimal=;"), by("a").ip("v4")})
    EXPECT_THROW(Key(wrong, false, nullptr), UsageError) << to_string(wrong);
}

TEST(CsvKey, FractionsOfSecondsBefore1970CountBack) {
  const TimeFormat format("%s.%f");
  Random random(2);
  std::vector<std::string> values;
  for (int i = 0; i < 200; ++i)
    values.push_back((i % 2 == 0 ? "-" : "") + std::to_string(random.below(3)) + "." + digits(random, 30) + "0");
  const Key key(by("").date(), false, &format);
  for (const std::string& a : values) {
    for (const std::string& b : values) {
      check_windows(key, a, b);
      ASSERT_EQ(key.compare(a, b) < 0, lines::compare_numbers(*read_number(a), *read_number(b)) < 0) << a << ' ' << b;
    }
  }
}

TEST(CsvValue, HasNoQuotes) {
  const csv::Dialect dialect;
  EXPECT_EQ(*csv::CsvValue("a b", dialect), "a b");
  EXPECT_EQ(*csv::CsvValue("\"\"", dialect), "");
  EXPECT_EQ(*csv::CsvValue("\"a,\"\"b\"\"\"", dialect), "a,\"b\"");
  EXPECT_EQ(*csv::CsvValue("\"a\"", {.delimiter = ',', .quote = std::nullopt}), "\"a\"");
}

}  // namespace
}  // namespace ecosort::keys
