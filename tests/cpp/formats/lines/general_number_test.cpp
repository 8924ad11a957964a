// Numbers of -g that are read without strtold have its values, to the last bit.
#include "formats/lines/general_number.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/random.h"

namespace ecosort::lines {
namespace {

std::string random_digits(Random& random, std::uint64_t most) {
  std::string digits;
  for (std::uint64_t i = random.below(most + 1); i > 0; --i)
    digits += static_cast<char>('0' + random.below(random.coin() ? 10 : 2));
  return digits;
}

std::string random_number(Random& random) {
  static const std::string before[] = {"", "", "", " ", "\t\v", "-", "-", "+", "--", "0", "000", "-00"};
  static const std::string behind[] = {"", "", "", " 1", "x", "e", "e+", "E-", "e 5", ".", "p3", ",7", "K"};
  std::string text = before[random.below(std::size(before))] + random_digits(random, 21);
  if (random.coin()) text += "." + std::string(random.below(4) == 0 ? random.below(30) : 0, '0') + random_digits(random, 19);
  if (random.coin()) text += (random.coin() ? "e" : "E-") + std::to_string(random.below(random.coin() ? 30 : 400));
  return text + behind[random.below(std::size(behind))];
}

// The order of the two as sort has it, from strtold alone.
int order_of_values(const std::string& a, const std::string& b) {
  char *end_a = nullptr, *end_b = nullptr;
  const long double x = std::strtold(a.c_str(), &end_a), y = std::strtold(b.c_str(), &end_b);
  const bool has_x = end_a != a.c_str(), has_y = end_b != b.c_str();
  if (!has_x || !has_y) return static_cast<int>(has_x) - static_cast<int>(has_y);
  return (x > y) - (x < y);
}

TEST(GeneralNumbers, HaveTheValueOfStrtold) {
  Random random(7);
  int plain = 0;
  constexpr int rounds = 300'000;
  for (int i = 0; i < rounds; ++i) {
    const std::string text = random_number(random);
    const auto number = plain_general(text);
    if (!number) continue;
    ++plain;
    // The value in more digits than are read without strtold.
    char* end = nullptr;
    const long double value = std::strtold(text.c_str(), &end);
    ASSERT_EQ(number->kind, end == text.c_str() ? General::Kind::none : General::Kind::number) << text;
    if (end == text.c_str()) continue;
    char exact[64];
    std::snprintf(exact, sizeof exact, "%.40Le", value);
    if (value != 0) {
      ASSERT_FALSE(plain_general(exact)) << exact;
    }
    ASSERT_EQ(compare(*number, read_general(exact)), 0) << text;
  }
  EXPECT_GT(plain, rounds / 2);
}

TEST(GeneralNumbers, CompareAsTheValuesDo) {
  Random random(8);
  std::string before = "0";
  for (int i = 0; i < 200'000; ++i) {
    const std::string text = random_number(random);
    ASSERT_EQ(compare(read_general(before), read_general(text)), order_of_values(before, text)) << before << "|" << text;
    before = text;
  }
}

TEST(GeneralNumbers, ThatRoundToTheSameValueAreEqual) {
  const std::vector<std::vector<std::string>> equal{{"1", "+1", "1.", "1e0", "10e-1", "0x1", "1e", "1e+", "0.1e1x"},
                                                    {"0", "-0", "0e999", "-.0", "0x0", "1e-99999"},
                                                    {"1e19", "10000000000000000000", "1000000000000000000e1"},
                                                    {"0.1", "1e-1", "0.10000000000000000000000000000000000000000001"},
                                                    {"-inf", "-infinity", "-1e99999"},
                                                    {"", " ", "x", "-", "+-1", ".", ".e1", "-x1"}};
  for (const auto& alike : equal)
    for (const std::string& text : alike) EXPECT_EQ(compare(read_general(alike[0]), read_general(text)), 0) << text;
  if (LongDouble::precision == 64) {
    EXPECT_EQ(compare(read_general("18446744073709551617"), read_general("18446744073709551616")), 0);
  }
  const std::vector<std::string> ordered{
      "x",      "nan", "-inf", "-1e300", "-1", "-0.9999999999999999999", "0",    "1e-4900", "1e-300",
      "2.5e-1", "1",   "1.1",  "9",      "10", "9999999999999999999",    "1e19", "1e300",   "inf"};
  for (std::size_t i = 0; i + 1 < ordered.size(); ++i)
    EXPECT_LT(compare(read_general(ordered[i]), read_general(ordered[i + 1])), 0) << ordered[i];
}

// A value between two long doubles, nearly half way: a reader that says what it rounds to must know.
TEST(GeneralNumbers, BetweenTwoValuesRoundAsStrtoldDoes) {
  Random random(9);
  for (int i = 0; i < 100'000; ++i) {
    // Odd numbers of 65 bits are half way where long double has 64; a decimal point moves nothing of that.
    const uint128 half = (uint128{1} << 64U) + (uint128{random.next()} | 1U);
    const std::string text = to_decimal(half / 10) + (random.coin() ? "e1" : ".0e1");
    const std::string as_is = to_decimal(half);
    ASSERT_EQ(compare(read_general(text), read_general(as_is)), order_of_values(text, as_is)) << text;
  }
}

}  // namespace
}  // namespace ecosort::lines
