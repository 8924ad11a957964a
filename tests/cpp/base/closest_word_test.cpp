#include "base/closest_word.h"

#include <gtest/gtest.h>

#include <array>

namespace ecosort {
namespace {

constexpr std::array<std::string_view, 5> words{"--memory", "--threads", "--temp", "sort", "gen"};

TEST(ClosestWord, CountsEditsAndSwaps) {
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("sort", "sort"), 0U);
  EXPECT_EQ(edit_distance("srot", "sort"), 1U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(ClosestWord, IsFoundWhereMostLettersAreRight) {
  EXPECT_EQ(closest_word("--memroy", words), "--memory");
  EXPECT_EQ(closest_word("--mem", words), "--memory");
  EXPECT_EQ(closest_word("srot", words), "sort");
  EXPECT_EQ(closest_word("--MEMORY", words), "--memory");
  EXPECT_EQ(closest_word("--zzz", words), std::nullopt);
  EXPECT_EQ(closest_word("x", words), std::nullopt);
  EXPECT_EQ(closest_word("", words), std::nullopt);
  EXPECT_EQ(did_you_mean("--thread", words), "; did you mean '--threads'?");
  EXPECT_EQ(did_you_mean("nothing", words), "");
}

}  // namespace
}  // namespace ecosort
