#include "base/cpu_features.h"

#include <gtest/gtest.h>

#include "base/errors.h"

namespace ecosort {

TEST(CpuLevel, IsReadBackFromItsName) {
  for (const CpuLevel level : all_cpu_levels) EXPECT_EQ(parse_cpu_level(to_string(level)), level);
}

TEST(CpuLevel, RefusesAnUnknownName) {
  try {
    parse_cpu_level("sse9");
    FAIL();
  } catch (const UsageError& error) {
#if defined(__x86_64__)
    EXPECT_STREQ(error.what(), "ECOSORT_CPU=sse9: give baseline, avx2 or avx512");
#elif defined(__aarch64__)
    EXPECT_STREQ(error.what(), "ECOSORT_CPU=sse9: give baseline or neon");
#endif
  }
}

TEST(CpuLevel, InUseIsOneThatTheMachineHas) { EXPECT_LE(cpu_level(), detected_cpu_level()); }

}  // namespace ecosort
