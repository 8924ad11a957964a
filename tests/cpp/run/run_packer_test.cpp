// A run gets its codec by the block that it begins with; codecs are tried only so often to know it.
#include "run/run_packer.h"

#include <gtest/gtest.h>

#include <string>

#include "base/random.h"

namespace ecosort::run {
namespace {

constexpr std::uint64_t KiB = 1024, MiB = 1024 * KiB;
constexpr std::uint32_t block_bytes = 64 * KiB;
constexpr Pace slow_drives{.drive_s = 1e-6, .compute_s = 1e-9, .threads = 1, .reads_input = true};

planner::PackingPlan plan_of_auto() {
  planner::PackingPlan plan;
  plan.wanted = codec::run_compression_of_word("auto");
  plan.coders = 1;
  plan.coder_bytes = planner::block_coder_bytes(plan.wanted.terms, block_bytes);
  return plan;
}

class RunPackerTest : public ::testing::Test {
 protected:
  RunPackerTest() { packer.set_pace(slow_drives); }

  // The next run; `distinct` bytes: 256 of them do not shrink.
  bool packs(unsigned distinct) {
    std::string block(block_bytes / 2, '\0');
    for (char& byte : block) byte = static_cast<char>(random.next() % distinct);
    const BlockContents contents{.used_bytes = static_cast<std::uint32_t>(block.size())};
    return packer.choose(reinterpret_cast<const std::byte*>(block.data()), contents).codec.codec != codec::BlockCodec::none;
  }

  Random random{1};
  MemoryBudget memory{8 * MiB};
  RunPacker packer{plan_of_auto(), {block_bytes, 0}, memory};
};

TEST_F(RunPackerTest, CodecsAreTriedLessOftenWhileBlocksStayAlike) {
  for (int run = 0; run < 1 + 2 + 4 + 5 * 8; ++run) EXPECT_FALSE(packs(256)) << run;
  EXPECT_EQ(packer.report().tried_blocks, 3 + 5);
}

TEST_F(RunPackerTest, OtherDataAreNoticedWithinEightRuns) {
  for (int run = 0; run < 1 + 2 + 4 + 8; ++run) EXPECT_FALSE(packs(256)) << run;
  int unnoticed = 0;
  while (!packs(4)) ASSERT_LT(++unnoticed, 8);
  for (int run = 0; run < 20; ++run) EXPECT_TRUE(packs(4)) << run;
}

TEST_F(RunPackerTest, DataThatChangeWithEachRunAreTriedEachTime) {
  for (unsigned run = 0; run < 20; ++run) EXPECT_EQ(packs(run % 2 == 0 ? 256 : 4), run % 2 == 1) << run;
  EXPECT_EQ(packer.report().tried_blocks, 20);
}

TEST_F(RunPackerTest, TheChoiceFollowsThePaceWithoutAnotherTrial) {
  for (int run = 0; run < 1 + 2 + 1; ++run) EXPECT_TRUE(packs(4)) << run;
  packer.set_pace({.drive_s = 1e-12, .compute_s = 1e-9, .threads = 1, .reads_input = true});
  EXPECT_FALSE(packs(4));
  EXPECT_EQ(packer.report().tried_blocks, 3);
}

TEST_F(RunPackerTest, NothingIsTriedWhereProcessorsAreTheBottleneck) {
  packer.set_pace({.drive_s = 1e-9, .compute_s = 1e-9, .threads = 1, .reads_input = true, .slowdown = 10});
  for (int run = 0; run < 20; ++run) EXPECT_FALSE(packs(4)) << run;
  EXPECT_EQ(packer.report().tried_blocks, 0);
  packer.set_pace(slow_drives);
  EXPECT_TRUE(packs(4));
}

}  // namespace
}  // namespace ecosort::run
