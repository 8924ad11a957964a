#include "base/json.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace {

using ecosort::Json;

TEST(Json, BytesThatAreNotUtf8BecomeTheReplacementCharacter) {
  EXPECT_EQ((Json{{"output", "o\xff/\xc3x"}}).text(), "{\"output\":\"o\xef\xbf\xbd/\xef\xbf\xbdx\"}");
  EXPECT_EQ((Json{{"k\xff", 1}}).text(), "{\"k\xef\xbf\xbd\":1}");
}

TEST(Json, OtherTextStaysAsItIs) {
  EXPECT_EQ((Json{{"output",
                   "gr\xc3\xb6\xc3\x9f"
                   "er\n"}})
                .text(),
            "{\"output\":\"gr\xc3\xb6\xc3\x9f"
            "er\\n\"}");
  EXPECT_EQ((Json{{"a", 1}}).text(2), "{\n  \"a\": 1\n}");
}

// A report must not lose a digit of a 64-bit count nor turn a time into a whole number.
TEST(Json, NumbersKeepTheirTypeAndEveryDigit) {
  const Json json{{"most", std::numeric_limits<std::uint64_t>::max()},
                  {"least", std::numeric_limits<std::int64_t>::min()},
                  {"seconds", 0.1},
                  {"whole", 2.0},
                  {"flag", true},
                  {"none", nullptr}};
  EXPECT_EQ(json.text(),
            R"({"most":18446744073709551615,"least":-9223372036854775808,"seconds":0.1,"whole":2.0,"flag":true,"none":null})");
}

TEST(Json, MembersKeepTheirOrderAndAreReplacedWhereTheyAre) {
  Json json{{"z", 1}, {"a", Json{{"inner", "x"}}}};
  json.update({{"z", 2}, {"new", std::vector<std::string>{"p", "q"}}});
  json["a"]["more"] = Json::array();
  EXPECT_EQ(json.text(), R"({"z":2,"a":{"inner":"x","more":[]},"new":["p","q"]})");
}

TEST(Json, ReadsWhatItWrites) {
  const std::string text = R"({"row":"eA==","source":3,"list":[1,-2,0.5,{"a":null}],"flag":false})";
  const std::optional<Json> json = Json::parse(text);
  ASSERT_TRUE(json);
  EXPECT_EQ(json->text(), text);
  EXPECT_EQ(*json->find_text("row"), "eA==");
  EXPECT_EQ(*json->find_number("source"), 3U);
  EXPECT_EQ(json->find_number("row"), nullptr);
  EXPECT_EQ(json->find("absent"), nullptr);
  EXPECT_FALSE(Json::parse("{\"row\":"));
}

}  // namespace
