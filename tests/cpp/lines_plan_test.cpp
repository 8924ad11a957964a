#include <gtest/gtest.h>

#include <algorithm>

#include "lines/line_plan.h"

namespace ecosort::lines {
namespace {

class LinePlanTest : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(LinePlanTest, ThreeBuffersFitTheMemoryAndEachHoldsALineOfAQuarterOfIt) {
  for (const bool unique : {false, true}) {
    const LinePlan two = plan_lines(GetParam(), 2, 100, unique), three = plan_for_stored_runs(two);
    EXPECT_EQ(two.run_buffers, 2U);
    EXPECT_EQ(three.run_buffers, 3U);
    EXPECT_LE(three.run_buffers * three.run_buffer_bytes + three.write_bytes() + three.seen_bytes, GetParam());
    EXPECT_GE(three.run_buffer_bytes - three.block_bytes, std::min(GetParam() / 4, two.run_buffer_bytes - two.block_bytes));
    EXPECT_LE(three.run_buffer_bytes, two.run_buffer_bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(LinePlan, LinePlanTest,
                         ::testing::Values(least_line_memory_bytes, std::uint64_t{3} << 20U, std::uint64_t{64} << 20U,
                                           std::uint64_t{1} << 30U, std::uint64_t{15} << 30U),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace ecosort::lines
