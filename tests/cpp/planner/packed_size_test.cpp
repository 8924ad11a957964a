// Computes how large runs are whose blocks are packed: by doublings of the records, in whole pages.
#include "planner/packed_size.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace ecosort::planner {
namespace {

constexpr RunBlock block{.bytes = 64 * 1024, .records = 600};

PackedSize of_run(std::uint64_t run_records, std::vector<double> block_bytes) {
  PackedSize size;
  size.add(run_records, std::move(block_bytes));
  return size;
}

TEST(PackedSizeTest, EachBlockTakesWholePages) {
  EXPECT_EQ(of_run(6000, {4096, 4097, 8192, 8193}).run_bytes(block, 4 * 600), 4096U + 2 * 8192 + 12288);
}

TEST(PackedSizeTest, LongerRunsHaveSmallerBlocksByTheirDoublings) {
  PackedSize size = of_run(600, {20'480});
  size.add(1200, {16'384});
  EXPECT_EQ(size.run_bytes(block, 600), 20'480U);
  EXPECT_EQ(size.run_bytes(block, 1200), 2U * 16'384);
  EXPECT_EQ(size.run_bytes(block, 4800), 8U * 8192);
  EXPECT_EQ(size.run_bytes(block, 600U << 20U), (std::uint64_t{1} << 20U) * 4096) << "a page at least";
}

TEST(PackedSizeTest, RunsBetweenThoseThatWereMeasuredLieOnTheLineBetween) {
  PackedSize size = of_run(600, {40'960, 20'480});
  size.add(9600, {20'480, 4096});
  size.add(19'200, {20'480, 4096});
  EXPECT_EQ(size.run_bytes(block, 2 * 1200), 4U * (32'768 + 12'288) / 2) << "each 9216 bytes less";
  EXPECT_EQ(size.run_bytes(block, 19'200), 16U * (20'480 + 4096));
}

// One doubling alone shows less than two.
TEST(PackedSizeTest, BeyondTheLastLengthTheLastThreeCount) {
  PackedSize size = of_run(600, {40'960});
  size.add(1200, {28'672});
  size.add(2400, {24'576});
  EXPECT_EQ(size.run_bytes(block, 4800), 8U * 16'384);
}

// The blocks of the longer run become whole pages, not those of the sample.
TEST(PackedSizeTest, PagesAreCountedAtTheEnd) {
  PackedSize size = of_run(300, {19'700});
  size.add(600, {20'000});
  EXPECT_EQ(size.run_bytes(block, 1200), 2U * 20'480);
  EXPECT_EQ(size.run_bytes(block, 2400), 4U * 24'576);
}

TEST(PackedSizeTest, BlocksThatDoNotShrinkAreAsTheyAre) { EXPECT_EQ(of_run(600, {65'536}).run_bytes(block, 6000), 10U * 65'536); }

TEST(PackedSizeTest, TheLastBlockHasAPartOfTheBytes) {
  EXPECT_EQ(of_run(600, {40'960}).run_bytes(block, 900), 40'960U + 20'480);
  EXPECT_EQ(of_run(600, {40'960}).run_bytes(block, 1), 4096U);
}

TEST(SampledPackingTest, RunsWithoutCodecHaveWholeBlocks) {
  const SampledPacking none;
  EXPECT_EQ(none.run_bytes(block, 601), 2U * 65'536);
}

}  // namespace
}  // namespace ecosort::planner
