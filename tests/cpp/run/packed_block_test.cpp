// A packed run block: what it says, and that nothing hostile gets beyond the block.
#include "run/packed_block.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/memory.h"
#include "base/random.h"
#include "hash/block_checksum.h"

namespace ecosort::run {
namespace {

using codec::BlockCodec;
using codec::BlockTerms;

constexpr std::size_t block_bytes = 32768, seed = 77;

class PackedBlock : public testing::TestWithParam<BlockTerms> {
 protected:
  MemoryBudget budget_{std::uint64_t{64} << 20U};
  Buffer memory_ = budget_.allocate(PackedBlockCoder::memory_bytes(GetParam(), block_bytes), "a coder");
  PackedBlockCoder coder_{GetParam(), block_bytes, {memory_.data(), memory_.size()}};

  static std::vector<std::byte> text() {
    Random random(5);
    std::vector<std::byte> block(block_bytes + 64, std::byte{0xAA});
    for (std::size_t i = 0; i < block_bytes; ++i) block[i] = static_cast<std::byte>('a' + random.below(4));
    return block;
  }
  static bool is_untouched_behind(const std::vector<std::byte>& block) {
    return std::all_of(block.begin() + block_bytes, block.end(), [](std::byte byte) { return byte == std::byte{0xAA}; });
  }
};

TEST_P(PackedBlock, ComesBackWithWhatItHeld) {
  for (const BlockContents contents : {BlockContents{block_bytes - trailer_bytes, 0}, {20000, 17}, {5000, 5000}, {1, 0}}) {
    const std::vector<std::byte> plain = text();
    std::vector<std::byte> block = plain;
    const std::size_t tried = coder_.try_out(GetParam(), block.data(), contents);
    EXPECT_EQ(block, plain) << "a try changes nothing";
    const std::size_t stored = coder_.pack(GetParam(), block.data(), seed, contents);
    ASSERT_GT(stored, 0U);
    EXPECT_EQ(stored, tried);
    EXPECT_EQ(stored % page_bytes, 0U);
    EXPECT_LT(stored, block_bytes);
    EXPECT_TRUE(is_intact(block.data(), stored, seed));
    EXPECT_FALSE(is_intact(block.data(), stored, seed + 1)) << "another place";
    const auto back = coder_.unpack(block.data(), stored);
    ASSERT_TRUE(back);
    EXPECT_EQ(back->used_bytes, contents.used_bytes);
    EXPECT_EQ(back->carried_bytes, contents.carried_bytes);
    EXPECT_TRUE(std::equal(block.begin(), block.begin() + contents.used_bytes, plain.begin()));
    EXPECT_TRUE(is_untouched_behind(block));
  }
}

TEST_P(PackedBlock, StaysAsItIsWhereItWouldNotShrink) {
  Random random(6);
  std::vector<std::byte> block(block_bytes);
  for (std::byte& byte : block) byte = static_cast<std::byte>(random.next());
  const std::vector<std::byte> before = block;
  const BlockContents contents{block_bytes - trailer_bytes, 3};
  EXPECT_EQ(coder_.pack(GetParam(), block.data(), seed, contents), 0U);
  EXPECT_EQ(coder_.try_out(GetParam(), block.data(), contents), block_bytes);
  EXPECT_EQ(block, before);
}

TEST_P(PackedBlock, NoticesEveryByteThatChanged) {
  std::vector<std::byte> block = text();
  const std::size_t stored = coder_.pack(GetParam(), block.data(), seed, {9000, 10});
  ASSERT_GT(stored, 0U);
  for (std::size_t at = 0; at < stored; ++at) {
    block[at] ^= std::byte{1};
    EXPECT_FALSE(is_intact(block.data(), stored, seed)) << "byte " << at;
    block[at] ^= std::byte{1};
  }
}

// The checksum is right, as whoever made the block would make it: every field of the head takes hostile values.
TEST_P(PackedBlock, HostileHeadsStayWithinTheBlock) {
  std::vector<std::byte> good = text();
  const std::size_t stored = coder_.pack(GetParam(), good.data(), seed, {30000, 10});
  ASSERT_GT(stored, 0U);
  std::uint32_t packed = 0;
  std::memcpy(&packed, good.data() + 4, sizeof packed);
  for (const std::size_t field : {0, 4, 8, 12}) {
    for (const std::uint32_t value :
         {std::uint32_t{0}, std::uint32_t{1}, packed - 1, packed + 1, std::uint32_t(stored), std::uint32_t(stored - 32),
          std::uint32_t(stored - 31), std::uint32_t{29999}, std::uint32_t{30001}, std::uint32_t(block_bytes - 16),
          std::uint32_t(block_bytes - 15), std::uint32_t(block_bytes), UINT32_MAX}) {
      std::vector<std::byte> block = good;
      std::uint32_t before = 0;
      std::memcpy(&before, block.data() + field, sizeof before);
      std::memcpy(block.data() + field, &value, sizeof value);
      const auto contents = coder_.unpack(block.data(), stored);
      EXPECT_TRUE(is_untouched_behind(block));
      const bool may_differ = field == 12 ? value <= 30000 : value == before;
      EXPECT_EQ(contents.has_value(), may_differ) << "field " << field << " value " << value;
    }
  }
  for (unsigned codec = 0; codec < 256; ++codec) {
    std::vector<std::byte> block = good;
    block[16] = static_cast<std::byte>(codec);
    const bool is_right = static_cast<BlockCodec>(codec) == GetParam().codec;
    EXPECT_EQ(coder_.unpack(block.data(), stored).has_value(), is_right) << codec;
    EXPECT_TRUE(is_untouched_behind(block));
  }
}

TEST_P(PackedBlock, RandomBytesStayWithinTheBlock) {
  Random random(9);
  const std::vector<std::byte> plain = text();
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::byte> block = plain;
    const std::size_t stored = coder_.pack(GetParam(), block.data(), seed, {30000, 0});
    ASSERT_GT(stored, 0U);
    for (std::uint64_t changes = 1 + random.below(8); changes > 0; --changes)
      block[24 + random.below(stored - 24)] = static_cast<std::byte>(random.next());
    (void)coder_.unpack(block.data(), stored);
    ASSERT_TRUE(is_untouched_behind(block));
  }
}

INSTANTIATE_TEST_SUITE_P(Codecs, PackedBlock, testing::Values(BlockTerms{BlockCodec::lz4, 0}, BlockTerms{BlockCodec::zstd, 1}),
                         [](const auto& info) { return codec::text_of(info.param).substr(0, info.index == 0 ? 3 : 4); });

}  // namespace
}  // namespace ecosort::run
