#include "base/uint128.h"

#include <gtest/gtest.h>

namespace ecosort {

TEST(Uint128, ReadsAndPrintsDecimals) {
  for (const char* text :
       {"0", "9", "10", "18446744073709551615", "18446744073709551616", "340282366920938463463374607431768211455"}) {
    ASSERT_TRUE(parse_decimal(text).has_value()) << text;
    EXPECT_EQ(to_decimal(*parse_decimal(text)), text);
  }
  EXPECT_EQ(parse_decimal("007"), uint128{7});
}

TEST(Uint128, RefusesWhatIsNoNumberOrTooLarge) {
  for (const char* text : {"", "-1", "+1", " 1", "1e6", "0x10", "340282366920938463463374607431768211456",
                           "999999999999999999999999999999999999999999"}) {
    EXPECT_FALSE(parse_decimal(text).has_value()) << text;
  }
}

TEST(Uint128, PrintsHexadecimalWithoutLeadingZeros) {
  EXPECT_EQ(to_hex(0), "0");
  EXPECT_EQ(to_hex(0xabcdef), "abcdef");
  EXPECT_EQ(to_hex(make_uint128(0x12, 0x34)), "120000000000000034");
}

}  // namespace ecosort
