// Sizes as people write them.
#include "base/size_text.h"

#include <gtest/gtest.h>

#include "base/errors.h"

namespace ecosort {
namespace {

TEST(SizeText, ANumberWithoutAUnitIsBytesAndUnitsGoUpToExabytes) {
  EXPECT_EQ(parse_bytes("4096", "--memory"), 4096U);
  EXPECT_EQ(parse_bytes("3PB", "--memory"), 3'000'000'000'000'000U);
  EXPECT_EQ(parse_bytes("18EB", "--memory"), 18'000'000'000'000'000'000U);
  EXPECT_EQ(parse_bytes("15EiB", "--memory"), 15ULL << 60U);
  EXPECT_EQ(parse_bytes("4mib", "--memory") + parse_bytes("1KB", "--memory"), (4ULL << 20U) + 1000);
  for (const char* text : {"", "EB", "19EB", "16EiB", "18446744073709551616", "4k", "4MX", "-1", "1 GB"})
    EXPECT_THROW((void)parse_bytes(text, "--memory"), UsageError) << text;
}

TEST(SizeText, AnInputThatIsNotThereHasNoMoreThanAPlanCanCount) {
  EXPECT_EQ(parse_assumed_bytes("1EiB", "--assume-size"), most_input_bytes);
  for (const char* text : {"2EiB", "18446744073709551615"})
    EXPECT_THROW((void)parse_assumed_bytes(text, "--assume-size"), UsageError);
}

}  // namespace
}  // namespace ecosort
