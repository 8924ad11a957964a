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

TEST_P(LinePlanTest, BlocksOfStoredRunsGrowAndLeaveHundredsOfRunsToAMerge) {
  constexpr std::size_t usual = std::size_t{512} * 1024;
  const LinePlan plan = plan_lines(GetParam(), 2, 100, false), stored = plan_for_stored_runs(plan);
  EXPECT_LE(plan.block_bytes, usual);
  EXPECT_GE(stored.block_bytes, plan.block_bytes);
  EXPECT_LE(stored.block_bytes, std::max<std::uint64_t>(plan.block_bytes, GetParam() / 1024));
  if (GetParam() == std::uint64_t{1} << 30U) {
    EXPECT_EQ(stored.block_bytes, 2 * usual);
  }
}

TEST_P(LinePlanTest, ASmallInputHasFewSmallBlocks) {
  const LinePlan plan = plan_for_small_input(plan_lines(GetParam(), 2, 100, false));
  EXPECT_LE(plan.write_bytes(), std::min<std::uint64_t>(GetParam() / 16, 192 * 1024));
}

INSTANTIATE_TEST_SUITE_P(LinePlan, LinePlanTest,
                         ::testing::Values(least_line_memory_bytes, std::uint64_t{3} << 20U, std::uint64_t{64} << 20U,
                                           std::uint64_t{1} << 30U, std::uint64_t{15} << 30U),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace ecosort::lines
