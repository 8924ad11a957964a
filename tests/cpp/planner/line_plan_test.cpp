#include "planner/line_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

namespace ecosort::planner {
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

TEST_P(LinePlanTest, RunsAreAsManyAsALoserTreeHasLeavesIfTheMergeHasMemoryForThem) {
  const LinePlan plan = plan_for_stored_runs(plan_lines(GetParam(), 2, 100, false));
  const std::uint64_t slots = 4 * (plan.block_bytes + 2 * page_bytes);  // two of each run in two merges at the same time
  for (std::uint64_t full = 1; full < 300; ++full) {
    const std::uint64_t runs = spread_runs(plan, full, 100);
    EXPECT_TRUE(runs == full || (std::has_single_bit(runs) && runs / 2 < full && full < runs)) << full;
    EXPECT_TRUE(runs == full || (runs <= 100 && runs * slots <= plan.merge_bytes())) << full;
  }
  EXPECT_EQ(spread_runs(plan, 3, 100), 4U);
  EXPECT_EQ(spread_runs(plan, 3, plan.run_buffer_bytes), 3U) << "long lines need the memory of the merge";
  EXPECT_EQ(spread_runs(plan, 65, 100), 65U) << "128 are not merged at a time";
}

TEST(LinePlan, BlocksAreSmallerWhereShortRowsWouldElseBeMergedTwice) {
  constexpr std::uint64_t bytes = 1'000'000'000, short_row = 10, usual_row = 100;
  const LinePlan plan = plan_for_stored_runs(plan_lines(std::uint64_t{64} << 20U, 2, SIZE_MAX, false));
  EXPECT_EQ(fit_blocks(plan, bytes, bytes / usual_row).block_bytes, plan.block_bytes);
  const LinePlan smaller = fit_blocks(plan, bytes, bytes / short_row);
  EXPECT_EQ(smaller.block_bytes, plan.block_bytes / 4) << "two merges of some 210 runs at the same time";
  EXPECT_GE(smaller.run_buffer_bytes, plan.run_buffer_bytes);
  EXPECT_EQ(fit_blocks(plan, 2 * bytes, 2 * bytes / short_row).block_bytes, plan.block_bytes / 4) << "one merge of more";
  EXPECT_EQ(fit_blocks(plan, 10 * bytes, bytes).block_bytes, plan.block_bytes) << "too many runs for small ones, too";
  EXPECT_EQ(fit_blocks(plan, bytes, bytes / short_row, 1).block_bytes, plan.block_bytes / 2) << "a job merges in one part";
  LinePlan few = plan;
  few.batch_size = 100;
  EXPECT_EQ(fit_blocks(few, bytes, bytes / short_row).block_bytes, plan.block_bytes);
}

TEST(LinePlan, SmallBlocksOfAJobHaveAsManyBytesUnderWayAsUsualOnesUpToADepth) {
  const LinePlan usual = plan_for_stored_runs(plan_lines(std::uint64_t{64} << 20U, 2, SIZE_MAX, false));
  EXPECT_EQ(with_usual_bytes_under_way(usual).write_blocks, usual.write_blocks);
  for (const unsigned times : {2U, 4U, 64U}) {
    const auto kept = plan_for_kept_runs(usual, usual.block_bytes / times);
    ASSERT_TRUE(kept);
    const LinePlan plan = with_usual_bytes_under_way(*kept);
    const unsigned more = std::min(times, 8U);
    EXPECT_EQ(plan.block_bytes, usual.block_bytes / times);
    EXPECT_EQ(plan.write_blocks, more * usual.write_blocks);
    EXPECT_EQ(plan.read_depth + plan.write_depth, more * (usual.read_depth + usual.write_depth));
    EXPECT_LE(plan.read_depth + plan.write_depth, most_kept_requests);
    EXPECT_LE(plan.write_bytes() + plan.run_buffers * plan.run_buffer_bytes, plan.memory_bytes);
  }
  EXPECT_EQ(with_usual_bytes_under_way(*plan_for_kept_runs(usual, 2 * usual.block_bytes)).read_depth, usual.read_depth);
}

TEST_P(LinePlanTest, ASmallInputHasFewSmallBlocks) {
  const LinePlan plan = plan_for_small_input(plan_lines(GetParam(), 2, 100, false), 1000);
  EXPECT_LE(plan.write_bytes(), std::min<std::uint64_t>(GetParam() / 16, 192 * 1024));
  EXPECT_LE(plan.run_buffers * plan.run_buffer_bytes, 384U * 1024);
}

INSTANTIATE_TEST_SUITE_P(LinePlan, LinePlanTest,
                         ::testing::Values(least_line_memory_bytes, std::uint64_t{3} << 20U, std::uint64_t{64} << 20U,
                                           std::uint64_t{1} << 30U, std::uint64_t{15} << 30U),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace ecosort::planner
