// An order comes back from the description of a run as it was.
#include "run/order_bytes.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/errors.h"
#include "cpp/support/line_words.h"
#include "formats/csv/csv_format.h"
#include "formats/jsonl/jsonl_format.h"
#include "formats/lines/line_order.h"

namespace ecosort::run {
namespace {

std::unique_ptr<formats::RowFormat> back(const formats::RowFormat& format) {
  Description description;
  description.format = format.format();
  description.order = format.order_bytes();
  return row_format_of(description);
}

lines::LineOrder order_of(const std::vector<std::string>& words) {
  const Request request = lines::request_of_words(words);
  const auto& terms = std::get<Lines>(request.rows);
  return lines::LineOrder(lines::order_terms(terms, request.unique), terms.terminator);
}

}  // namespace

TEST(OrderBytes, LinesCompareAsBefore) {
  const std::vector<std::string> texts{"",       "b 2,x", "B 10,x", "a\t3", " c 1", "1K z",  "jan 4",
                                       "10 a,b", "2 a,B", "v1.10",  "v1.9", "x,,y", "x, y,z"};
  const std::vector<std::vector<std::string>> all{{},
                                                  {"-r"},
                                                  {"-n"},
                                                  {"-k2,2n", "-k1,1r"},
                                                  {"-s", "-k2"},
                                                  {"-t,", "-k2.2,3b", "-f"},
                                                  {"-u", "-k1,1"},
                                                  {"-V"},
                                                  {"-h", "-r"},
                                                  {"-M"},
                                                  {"-d", "-i"},
                                                  {"-z"},
                                                  {"-R"},
                                                  {"-g", "-k3"},
                                                  {"-rk1,1n"},
                                                  {"-k1,1b", "-k2bf,3.1b"}};
  for (const std::vector<std::string>& words : all) {
    const lines::LineOrder order = order_of(words);
    const auto again = back(order);
    EXPECT_EQ(again->order_bytes(), order.order_bytes());
    EXPECT_EQ(again->terminator(), order.terminator());
    EXPECT_EQ(again->levels(), order.levels());
    for (const std::string& a : texts)
      for (const std::string& b : texts) EXPECT_EQ(again->compare(a, b), order.compare(a, b)) << a << " | " << b;
  }
}

TEST(OrderBytes, MarksOfRecordsComeBack) {
  lines::LineOrder order = order_of({"-z", "-r"});
  order.mark_records(formats::RecordMarks("From "));
  ASSERT_NE(back(order)->record_marks(), nullptr);
  EXPECT_EQ(back(order)->record_marks()->start(), "From ");
}

TEST(OrderBytes, OrdersThatDifferHaveOtherBytes) {
  EXPECT_NE(order_of({"-k1"}).order_bytes(), order_of({"-k1n"}).order_bytes());
  EXPECT_NE(order_of({"-k1,1"}).order_bytes(), order_of({"-k1,1", "-s"}).order_bytes());
  EXPECT_NE(order_of({"-t,"}).order_bytes(), order_of({"-t;"}).order_bytes());
  EXPECT_NE(order_of({}).order_bytes(), order_of({"-z"}).order_bytes());
}

TEST(OrderBytes, TablesComeBack) {
  const std::vector<ValueKey> keys{
      {"n", ValueType::number, true}, {"a\nname", ValueType::date, false}, {"s", ValueType::list, true, "S|M|L"}};
  for (const bool flag : {false, true}) {
    const csv::CsvFormat table({.dialect = {.delimiter = ';', .quote = flag ? std::optional('\'') : std::nullopt},
                                .has_header = flag,
                                .keys = flag ? keys : std::vector<ValueKey>{{"2", ValueType::text, false}},
                                .nulls_first = !flag,
                                .strict = flag,
                                .date_format = "%Y"});
    const auto again = back(table);
    EXPECT_EQ(again->order_bytes(), table.order_bytes());
    EXPECT_EQ(again->quote(), table.quote());
    const jsonl::JsonlFormat json(
        {.keys = {{"a.b[0]", ValueType::integer, flag}}, .nulls_first = flag, .strict = !flag, .date_format = ""});
    EXPECT_EQ(back(json)->order_bytes(), json.order_bytes());
  }
}

TEST(OrderBytes, KeysOfRecordsComeBack) {
  const records::RecordFormat format = records::make_record_format(40, {"8:u64be:desc", "0:8:nocase", "20:f32", "30:5:dec"});
  Description description;
  description.record_size = 40;
  description.order = order_bytes(format);
  const records::RecordFormat again = record_format_of(description);
  EXPECT_EQ(again.record_size, 40U);
  EXPECT_EQ(again.keys, format.keys);
  description.record_size = 20;
  EXPECT_THROW((void)record_format_of(description), UsageError) << "a key beyond the record";
}

TEST(OrderBytes, WhatIsNoOrderIsRefused) {
  for (const auto format : {Format::lines, Format::csv, Format::jsonl}) {
    Description description;
    description.format = format;
    for (std::size_t size = 0; size < 200; ++size)
      for (const std::byte byte : {std::byte{0}, std::byte{1}, std::byte{0xff}}) {
        description.order.assign(size, byte);
        EXPECT_THROW((void)row_format_of(description), UsageError) << size;
      }
  }
}

}  // namespace ecosort::run
