#include "planner/logarithm.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ecosort::planner {
namespace {

TEST(Logarithm, IsThatOfTheMathematicalLibrary) {
  for (double value = 1e-3; value < 1e18; value *= 1.037)
    ASSERT_NEAR(logarithm_of(value), std::log2(value), std::ldexp(1 + std::abs(std::log2(value)), -50)) << value;
  for (int power = -1022; power < 1023; ++power) ASSERT_EQ(logarithm_of(std::ldexp(1, power)), power);
  EXPECT_TRUE(std::isinf(logarithm_of(0)));
}

}  // namespace
}  // namespace ecosort::planner
