#include "base/json_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace {

using ecosort::json_text;
using Json = nlohmann::ordered_json;

TEST(JsonText, BytesThatAreNotUtf8BecomeTheReplacementCharacter) {
  EXPECT_EQ(json_text(Json{{"output", "o\xff/\xc3x"}}), "{\"output\":\"o\xef\xbf\xbd/\xef\xbf\xbdx\"}");
  EXPECT_EQ(json_text(Json{{"k\xff", 1}}), "{\"k\xef\xbf\xbd\":1}");
}

TEST(JsonText, OtherTextStaysAsItIs) {
  EXPECT_EQ(json_text(Json{{"output",
                            "gr\xc3\xb6\xc3\x9f"
                            "er\n"}}),
            "{\"output\":\"gr\xc3\xb6\xc3\x9f"
            "er\\n\"}");
  EXPECT_EQ(json_text(Json{{"a", 1}}, 2), "{\n  \"a\": 1\n}");
}

}  // namespace
