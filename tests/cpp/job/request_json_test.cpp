// The text of a request says all of it, and nothing else is one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "ecosort/request.hpp"

namespace ecosort::job {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

// Members of every structure differ from what they are by default.
Request everything(int format) {
  Request request;
  request.inputs = {"a", "-", std::string("\xff/b"), "quoted \"name\" \u00e4"};
  if (format == 0)
    request.rows = Records{.record_size = 16, .keys = {"0:10", at(8).u64().big_endian().descending()}, .reverse = true};
  if (format == 1)
    request.rows = Lines{.keys = {field(2).numeric(), "3.2bfr,4.5b", "1"},
                         .ordering = "bn",
                         .separator = '\0',
                         .terminator = '\0',
                         .stable = true,
                         .header_lines = 3,
                         .random_source = "dice",
                         .random_salt = "00112233445566778899aabbccddeeff"};
  const Values values{.keys = {by("a:number").descending(), by("b:desc"), "price:number:desc"},
                      .nulls_first = true,
                      .strict = true,
                      .date_format = "%d.%m.%Y"};
  if (format == 2) {
    Csv csv{values, "\t|", std::nullopt, '\\'};
    csv.header = false;
    request.rows = csv;
  }
  if (format == 3) request.rows = JsonLines{values, true};
  request.unique = true;
  request.input_order = InputOrder::believed;
  request.place = {.output = "out", .kind = PlaceKind::in_place, .space_bytes = 7, .as_is = true};
  request.means = {.memory_bytes = 1,
                   .memory_is_a_wish = true,
                   .threads = 2,
                   .merge_threads = 3,
                   .temp_directories = {"t"},
                   .io = "pool",
                   .request_bytes = 65536,
                   .request_depth = 4,
                   .run_records = 5,
                   .batch_size = 6};
  request.compression = {.decompress = true,
                         .output = "gzip",
                         .level = 0,
                         .runs = "zstd:3",
                         .program = "lzop",
                         .assumed_ratio = 1500,
                         .energy = EnergyTerms{.idle_w = 1.5, .core_w = 2, .gb_j = 0}};
  request.verification = {.reread = true, .checksum = true, .expected_hash = "0"};
  return request;
}

TEST(RequestJson, SaysAllOfARequest) {
  for (int format = 0; format < 4; ++format) {
    const Request request = everything(format);
    const std::string text = to_json(request);
    const Request back = request_from_json(text);
    EXPECT_EQ(to_json(back), text);
    EXPECT_EQ(back.inputs, request.inputs);
    EXPECT_EQ(back.format(), request.format());
  }
  const Request lines = request_from_json(to_json(everything(1)));
  EXPECT_EQ(std::get<Lines>(lines.rows).keys, std::get<Lines>(everything(1).rows).keys);
  EXPECT_EQ(std::get<Lines>(lines.rows).separator, '\0');
  const Request csv = request_from_json(to_json(everything(2)));
  EXPECT_EQ(std::get<Csv>(csv.rows).keys, std::get<Csv>(everything(2).rows).keys);
  EXPECT_EQ(std::get<Csv>(csv.rows).quote, std::nullopt);
  EXPECT_EQ(csv.compression.level, 0);
  EXPECT_EQ(csv.place.space_bytes, 7U);
}

TEST(RequestJson, IsShortByDefault) {
  Request request;
  request.inputs = {"in"};
  EXPECT_EQ(to_json(request), R"({"schema":"ecosort.request/1","inputs":["in"],"records":{}})");
}

TEST(RequestJson, TellsWhatIsWrong) {
  const auto refused = [](const std::string& members) {
    return [members] { (void)request_from_json(R"({"schema":"ecosort.request/1",)" + members + "}"); };
  };
  EXPECT_THAT(refused(R"("csv":{"keys":[]},"lines":{})"), ThrowsMessage<UsageError>(HasSubstr("rows have one format")));
  EXPECT_THAT(refused(R"("inputs":["a"])"), ThrowsMessage<UsageError>(HasSubstr("give one of records, lines, csv, jsonl")));
  EXPECT_THAT(refused(R"("csv":{"key":[]})"),
              ThrowsMessage<UsageError>("request: csv.key: there is no such member; did you mean 'keys'?"));
  EXPECT_THAT(refused(R"("records":{},"mean":{})"), ThrowsMessage<UsageError>(HasSubstr("did you mean 'means'?")));
  EXPECT_THAT(refused(R"("records":{"keys":["0"]})"), ThrowsMessage<UsageError>(HasSubstr("key '0': no length")));
  EXPECT_THAT(refused(R"("records":{},"means":{"threads":-1})"),
              ThrowsMessage<UsageError>("request: means.threads: is no whole number from 0 to 4294967295"));
  EXPECT_THAT(refused(R"("records":{},"means":{"memory_bytes":"1GiB"})"), ThrowsMessage<UsageError>(HasSubstr("memory_bytes")));
  EXPECT_THAT(refused(R"("records":{},"place":{"kind":"in place"})"),
              ThrowsMessage<UsageError>(HasSubstr("is none of file, resumable, in_place; did you mean 'in_place'?")));
  EXPECT_THAT(refused(R"("records":{},"inputs":[{"base64":"!"}])"),
              ThrowsMessage<UsageError>("request: inputs[0]: is no base64"));
  EXPECT_THAT(refused(R"("csv":{"quote":"ab"})"), ThrowsMessage<UsageError>("request: csv.quote: is not one byte"));
  EXPECT_THROW((void)request_from_json("{"), UsageError);
}

TEST(RequestSchema, HasEveryMember) {
  const std::string schema = request_schema();
  for (const char* const name : {"inputs", "record_size", "random_salt", "nulls_first", "delimiter", "allow_missing", "kind",
                                 "memory_bytes", "assumed_ratio", "gb_j", "expected_hash"})
    EXPECT_THAT(schema, HasSubstr('"' + std::string(name) + '"'));
}

}  // namespace
}  // namespace ecosort::job
