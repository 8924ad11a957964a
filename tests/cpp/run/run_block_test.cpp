// The trailer of a run block: what it says, and that nothing else is taken for the block.
#include "run/run_block.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"

namespace ecosort::run {
namespace {

constexpr std::size_t size = 4096;

std::vector<std::byte> random_block() {
  Random random(7);
  std::vector<std::byte> block(size);
  for (std::byte& byte : block) byte = static_cast<std::byte>(random.next());
  return block;
}

TEST(RunBlock, SaysHowMuchItHoldsAndWhatBeganBefore) {
  for (const BlockContents contents : {BlockContents{0, 0}, {1, 0}, {1, 1}, {4000, 17}, {size - trailer_bytes, 4080}}) {
    std::vector<std::byte> block = random_block();
    const std::vector<std::byte> before = block;
    seal_block(block.data(), size, 5, contents);
    ASSERT_TRUE(is_intact(block.data(), size, 5));
    EXPECT_EQ(contents_of(block.data(), size).used_bytes, contents.used_bytes);
    EXPECT_EQ(contents_of(block.data(), size).carried_bytes, contents.carried_bytes);
    EXPECT_TRUE(std::equal(block.begin(), block.begin() + contents.used_bytes, before.begin())) << "records stay as they are";
    EXPECT_TRUE(std::all_of(block.begin() + contents.used_bytes, block.end() - trailer_bytes,
                            [](std::byte byte) { return byte == std::byte{0}; }));
  }
}

TEST(RunBlock, IsRefusedWithAnyByteChangedOrInAnotherPlace) {
  std::vector<std::byte> block = random_block();
  seal_block(block.data(), size, run_seed(1, 2) + 3, {4000, 10});
  for (std::size_t at = 0; at < size; ++at) {
    block[at] ^= std::byte{1};
    EXPECT_FALSE(is_intact(block.data(), size, run_seed(1, 2) + 3)) << "byte " << at;
    block[at] ^= std::byte{1};
  }
  EXPECT_TRUE(is_intact(block.data(), size, run_seed(1, 2) + 3));
  EXPECT_FALSE(is_intact(block.data(), size, run_seed(1, 2) + 4)) << "another place";
  EXPECT_FALSE(is_intact(block.data(), size, run_seed(1, 3) + 3)) << "another run";
  EXPECT_FALSE(is_intact(block.data(), size, run_seed(2, 2) + 3)) << "another job";
}

}  // namespace
}  // namespace ecosort::run
