// Reads lines of JSON: what is valid, where values are in them, and what their texts are.
#include "formats/jsonl/read_row.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/errors.h"
#include "cpp/support/small_stack.h"
#include "formats/jsonl/path.h"
#include "formats/jsonl/value.h"

namespace ecosort::jsonl {
namespace {

// The text at the path, "-" for none, "null", or "byte N: what is wrong".
std::string at(const std::string& path, const std::string& row) {
  const std::vector<Path> paths{parse_path(path)};
  Text value;
  Repeated repeated;
  if (const auto fault = read_row(row, paths, &value, repeated)) return "byte " + std::to_string(fault->at) + ": " + fault->why;
  const Text found = find_value(row, paths.front(), repeated.paths != 0);
  EXPECT_EQ(found.data(), value.data()) << row;
  EXPECT_EQ(found, value) << row;
  if (value.empty()) {
    EXPECT_EQ((*JsonValue(value)).data(), nullptr) << row;
    return value.data() == nullptr ? "-" : "null";
  }
  return std::string(*JsonValue(value));
}

TEST(JsonlRow, PathsLeadToValues) {
  const std::string row = R"( {"a" : {"b":[1, {"c":"x"} ,[true,null]]}, "d.e":-2.50e+3,"":{"":"empty"},"q\"":"q", "f":false} )";
  EXPECT_EQ(at("a.b[0]", row), "1");
  EXPECT_EQ(at("a.b[1].c", row), "x");
  EXPECT_EQ(at("a.b[1]", row), R"({"c":"x"})");
  EXPECT_EQ(at("a.b[2][0]", row), "true");
  EXPECT_EQ(at("a.b[2][1]", row), "null");
  EXPECT_EQ(at("a.b[2][2]", row), "-");
  EXPECT_EQ(at("a.b[3]", row), "-");
  EXPECT_EQ(at("a.b.c", row), "-") << "an array has no names";
  EXPECT_EQ(at("a[0]", row), "-") << "an object has no places";
  EXPECT_EQ(at("f.g", row), "-");
  EXPECT_EQ(at("\"d.e\"", row), "-2.50e+3");
  EXPECT_EQ(at("\"\".\"\"", row), "empty");
  EXPECT_EQ(at("\"q\\\"\"", row), "q");
  EXPECT_EQ(at("[1].x", R"([0,{"x":7}])"), "7");
  EXPECT_EQ(at("x", "{}") + at("[0]", "[]") + at("x", "null") + at("x", "3"), "----");
}

TEST(JsonlRow, TheLastOfEqualNamesCounts) {
  EXPECT_EQ(at("a", R"({"a":1,"a":2})"), "2");
  EXPECT_EQ(at("a", R"({"a":1,"b":0,"\u0061":2,"c":3})"), "2") << "names mean what their escapes mean";
  EXPECT_EQ(at("a.x", R"({"a":{"y":1},"a":{"x":2}})"), "2");
  EXPECT_EQ(at("a.x", R"({"a":{"x":1},"a":{"y":2}})"), "-") << "the object that counts has no such member";
  EXPECT_EQ(at("a.x", R"({"a":{"x":1},"a":3})"), "-");
  EXPECT_EQ(at("a[1]", R"({"a":[1,2],"a":[3]})"), "-");
  EXPECT_EQ(at("a", R"({"a":2,"a":null})"), "null");
  EXPECT_EQ(at("a.b", R"({"b":{"b":1},"a":{"b":2},"b":{"b":3}})"), "2") << "other names repeat";
}

TEST(JsonlRow, RepeatedNamesAreReportedForThePathsThroughThem) {
  const std::vector<Path> paths{parse_path("c"), parse_path("a.x"), parse_path("b"), parse_path("a")};
  Text values[4];
  Repeated repeated;
  ASSERT_FALSE(read_row(R"({"c":1,"a":{"x":1,"z":0,"z":0},"b":2,"z":0,"a":{"x":5},"z":0})", paths, values, repeated));
  EXPECT_EQ(repeated.paths, 0b1010U);
  EXPECT_EQ(repeated.at, 43U);
  EXPECT_EQ(values[1], "5");
}

TEST(JsonlRow, StringsLoseTheirEscapes) {
  EXPECT_EQ(at("[0]", R"(["\"\\\/\b\f\n\r\t"])"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(at("[0]", R"(["A\u00e9\u20ac\ud83d\ude00z"])"), "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z");
  EXPECT_EQ(at("[0]", R"(["\ud83d"])"), "\xed\xa0\xbd") << "half of a character";
  EXPECT_EQ(at("[0]", R"(["\ud83d\ud83d\ude00"])"), "\xed\xa0\xbd\xf0\x9f\x98\x80");
  EXPECT_EQ(at("[0]", R"(["\u0000"])"), std::string(1, '\0'));
}

TEST(JsonlRow, WhatIsWrongIsToldWithItsPlace) {
  const std::vector<std::pair<std::string, std::size_t>> wrong{{"{", 1},
                                                               {"[", 1},
                                                               {R"({"a":1,})", 7},
                                                               {"[1,]", 3},
                                                               {"[1 2]", 3},
                                                               {R"({"a" 1})", 5},
                                                               {R"({a:1})", 1},
                                                               {R"({"a":1)", 6},
                                                               {"[1", 2},
                                                               {"tru", 0},
                                                               {"nul", 0},
                                                               {"False", 0},
                                                               {"01", 0},
                                                               {"-", 0},
                                                               {"1.", 2},
                                                               {".5", 0},
                                                               {"1e", 2},
                                                               {"1e+", 3},
                                                               {"+1", 0},
                                                               {"NaN", 0},
                                                               {"1 2", 2},
                                                               {R"({"a":1}{})", 7},
                                                               {R"("abc)", 0},
                                                               {R"("a\x")", 2},
                                                               {R"("\u12g4")", 1},
                                                               {"\"a\tb\"", 2},
                                                               {"\"\x80\"", 1},
                                                               {"\"\xc0\xaf\"", 1},
                                                               {"\"\xed\xa0\x80\"", 1},
                                                               {"\"\xf4\x90\x80\x80\"", 1},
                                                               {"\"\xe2\x82\"", 1},
                                                               {"\xc3\xa9", 0},
                                                               {"[1]]", 3},
                                                               {R"("\)", 1},
                                                               {R"(["12345678\q"])", 10},
                                                               {"\"\\u12\"", 1}};
  for (const auto& [row, place] : wrong)
    EXPECT_TRUE(at("a", row).starts_with("byte " + std::to_string(place) + ": ")) << row << at("a", row);
}

TEST(JsonlRow, NestingHasABound) {
  const std::string deep(most_depth, '['), ends(most_depth, ']');
  EXPECT_EQ(at("a", deep + ends), "-");
  EXPECT_EQ(at("a", "[" + deep + ends + "]"), "byte 1024: objects and arrays are nested deeper than 1024");
  EXPECT_EQ(at("a", deep + "}" + ends), "byte 1024: this is no value of JSON");
  std::string names, braces;
  for (unsigned i = 0; i < most_depth; ++i) {
    names += R"({"a":)";
    braces += '}';
  }
  const std::string row = names + "7" + braces;
  std::string path = "a";
  for (unsigned i = 1; i < most_depth; ++i) path += ".a";
  on_small_stack([&] { EXPECT_EQ(at(path, row), "7"); });
  on_small_stack([&] { EXPECT_EQ(at("b", deep + std::string(1 << 20U, ' ') + ends), "-"); });
  on_small_stack([&] { EXPECT_TRUE(at("b", std::string(1 << 20U, '[')).starts_with("byte 1024: ")); });
}

TEST(JsonlRow, PathsThatAreNoneAreRefused) {
  for (const char* const path : {"", ".", "a.", ".a", "a..b", "a[", "a[]", "a[x]", "a[-1]", "a[0]b", "\"a", "\"a\"b", "a]",
                                 "a\"b\"", "[0", "[99999999999999999999]"})
    EXPECT_THROW((void)parse_path(path), UsageError) << path;
}

TEST(JsonlRow, WhiteSpaceAloneIsBlank) {
  EXPECT_TRUE(is_blank(""));
  EXPECT_TRUE(is_blank(" \t\r"));
  EXPECT_FALSE(is_blank(" 1"));
}

}  // namespace
}  // namespace ecosort::jsonl
