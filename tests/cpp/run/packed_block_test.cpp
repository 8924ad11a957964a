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

constexpr std::size_t block_bytes = 32768, guard_bytes = 64, seed = 77;
constexpr std::uint32_t record_size = 100;

class PackedBlock : public testing::TestWithParam<PackTerms> {
 protected:
  BlockShape shape_{block_bytes, GetParam().transposes ? record_size : 0};
  MemoryBudget budget_{std::uint64_t{64} << 20U};
  Buffer memory_ = budget_.allocate(PackedBlockCoder::memory_bytes(GetParam().codec, shape_), "a coder");
  PackedBlockCoder coder_{GetParam().codec, shape_, {memory_.data(), memory_.size()}};

  static std::vector<std::byte> text() {
    Random random(5);
    std::vector<std::byte> block(block_bytes + guard_bytes, std::byte{0xAA});
    for (std::size_t i = 0; i < block_bytes; ++i) block[i] = static_cast<std::byte>('a' + random.below(4));
    if (GetParam().truncates) share_beginnings(block);
    return block;
  }
  // Rows of 100 bytes of which the first 90 are alike.
  static void share_beginnings(std::vector<std::byte>& block) {
    for (std::size_t i = 100; i < block_bytes; ++i) {
      if (i % 100 < 90) block[i] = block[i % 100];
      if (i % 100 == 99) block[i] = std::byte{'\n'};
    }
    block[99] = std::byte{'\n'};
  }
  static bool is_untouched_behind(const std::vector<std::byte>& block) {
    return std::all_of(block.begin() + block_bytes, block.end(), [](std::byte byte) { return byte == std::byte{0xAA}; });
  }
  // Whole records where they may be transposed.
  static std::uint32_t used(std::uint32_t bytes) { return GetParam().transposes ? bytes / record_size * record_size : bytes; }
  std::size_t pack(std::vector<std::byte>& block, BlockContents contents) {
    return coder_.pack(GetParam(), block.data(), contents, seed, block.data());
  }
};

TEST_P(PackedBlock, ComesBackWithWhatItHeld) {
  for (const BlockContents contents :
       {BlockContents{used(block_bytes - trailer_bytes), 0}, {used(20000), 17}, {used(5000), used(5000)}, {used(100), 0}}) {
    const std::vector<std::byte> plain = text();
    std::vector<std::byte> block = plain;
    const std::size_t tried = coder_.try_out(GetParam(), block.data(), contents);
    EXPECT_EQ(block, plain) << "a try changes nothing";
    const std::size_t stored = pack(block, contents);
    ASSERT_GT(stored, 0U);
    EXPECT_EQ(stored, tried);
    EXPECT_EQ(stored % page_bytes, 0U);
    EXPECT_LT(stored, block_bytes);
    EXPECT_TRUE(is_intact(block.data(), stored, seed));
    EXPECT_FALSE(is_intact(block.data(), stored, seed + 1)) << "another place";
    const auto back = coder_.unpack(block.data(), stored, block.data());
    ASSERT_TRUE(back);
    EXPECT_EQ(back->used_bytes, contents.used_bytes);
    EXPECT_EQ(back->carried_bytes, contents.carried_bytes);
    EXPECT_TRUE(std::equal(block.begin(), block.begin() + contents.used_bytes, plain.begin()));
    EXPECT_TRUE(is_untouched_behind(block));
  }
}

// The blocks of one read lie so: packed ones at the end, each of which goes to its place in front, or to where others of them
// were.
TEST_P(PackedBlock, IsPackedAndUnpackedFromOnePlaceToAnotherThatOverlaps) {
  const BlockContents contents{used(30000), 0};
  const std::vector<std::byte> plain = text();
  std::vector<std::byte> two(2 * block_bytes);
  std::copy_n(plain.begin(), block_bytes, two.begin() + block_bytes / 2);
  const std::size_t stored = coder_.pack(GetParam(), two.data() + block_bytes / 2, contents, seed, two.data());
  ASSERT_GT(stored, 0U);
  for (const std::size_t from : {block_bytes - stored, block_bytes - stored / 2, block_bytes}) {
    std::vector<std::byte> room(2 * block_bytes);
    std::copy_n(two.begin(), stored, room.begin() + static_cast<std::ptrdiff_t>(from));
    ASSERT_TRUE(coder_.unpack(room.data() + from, stored, room.data()));
    EXPECT_TRUE(std::equal(room.begin(), room.begin() + contents.used_bytes, plain.begin())) << from;
  }
}

TEST_P(PackedBlock, StaysAsItIsWhereItWouldNotShrink) {
  Random random(6);
  std::vector<std::byte> block(block_bytes);
  for (std::byte& byte : block) byte = static_cast<std::byte>(random.next());
  const std::vector<std::byte> before = block;
  const BlockContents contents{used(block_bytes - trailer_bytes), 3};
  EXPECT_EQ(pack(block, contents), 0U);
  EXPECT_EQ(coder_.try_out(GetParam(), block.data(), contents), block_bytes);
  EXPECT_EQ(block, before);
}

TEST_P(PackedBlock, NoticesEveryByteThatChanged) {
  std::vector<std::byte> block = text();
  const std::size_t stored = pack(block, {9000, 10});
  ASSERT_GT(stored, 0U);
  for (std::size_t at = 0; at < stored; ++at) {
    block[at] ^= std::byte{1};
    EXPECT_FALSE(is_intact(block.data(), stored, seed)) << "byte " << at;
    block[at] ^= std::byte{1};
  }
}

// The checksum is right, as a forger of the block would make it: every field of the head takes hostile values.
TEST_P(PackedBlock, HostileHeadsStayWithinTheBlock) {
  std::vector<std::byte> good = text();
  const std::size_t stored = pack(good, {30000, 10});
  ASSERT_GT(stored, 0U);
  std::uint32_t packed = 0;
  std::memcpy(&packed, good.data() + 4, sizeof packed);
  for (const std::size_t field : {0, 4, 8, 12, 20}) {
    for (const std::uint32_t value :
         {std::uint32_t{0}, std::uint32_t{1}, record_size, record_size + 1, packed - 1, packed + 1, std::uint32_t(stored),
          std::uint32_t(stored - 32), std::uint32_t(stored - 31), std::uint32_t{29900}, std::uint32_t{29999},
          std::uint32_t{30001}, std::uint32_t{30100}, std::uint32_t(block_bytes - 16), std::uint32_t(block_bytes - 15),
          std::uint32_t(block_bytes), UINT32_MAX}) {
      std::vector<std::byte> block = good;
      std::uint32_t before = 0;
      std::memcpy(&before, block.data() + field, sizeof before);
      std::memcpy(block.data() + field, &value, sizeof value);
      const auto contents = coder_.unpack(block.data(), stored, block.data());
      EXPECT_TRUE(is_untouched_behind(block));
      // Bytes of columns that are taken for records as they are: of the right size, and nonsense, which the order would show.
      const bool may_differ = field == 12 ? value <= 30000 : value == before || (field == 20 && value == 0);
      if (GetParam().truncates && value != before) continue;  // what is truncated otherwise may be rows, too
      EXPECT_EQ(contents.has_value(), may_differ) << "field " << field << " value " << value;
    }
  }
  for (unsigned codec = 0; codec < 256; ++codec) {
    std::vector<std::byte> block = good;
    block[16] = static_cast<std::byte>(codec);
    const bool is_right = static_cast<BlockCodec>(codec) == GetParam().codec.codec;
    EXPECT_EQ(coder_.unpack(block.data(), stored, block.data()).has_value(), is_right) << codec;
    EXPECT_TRUE(is_untouched_behind(block));
  }
}

// A few bytes that say they are a block of zeros, and more: no more is made of them than a block holds.
TEST_P(PackedBlock, ABombIsNoLargerThanABlock) {
  if (GetParam().codec.codec == BlockCodec::prefix) return;  // truncate_test.cpp has one of rows
  std::vector<std::byte> block(block_bytes + guard_bytes, std::byte{0});
  std::fill(block.begin() + block_bytes, block.end(), std::byte{0xAA});
  const std::size_t stored = pack(block, {used(block_bytes - trailer_bytes), 0});
  ASSERT_EQ(stored, page_bytes);
  for (const std::uint32_t claimed : {std::uint32_t(block_bytes), std::uint32_t{1} << 20U, std::uint32_t{1} << 30U, UINT32_MAX}) {
    std::vector<std::byte> bomb = block;
    std::memcpy(bomb.data() + 8, &claimed, sizeof claimed);
    EXPECT_FALSE(coder_.unpack(bomb.data(), stored, bomb.data()));
    EXPECT_TRUE(is_untouched_behind(bomb));
  }
}

TEST_P(PackedBlock, RandomBytesStayWithinTheBlock) {
  Random random(9);
  const std::vector<std::byte> plain = text();
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::byte> block = plain;
    const std::size_t stored = pack(block, {30000, 0});
    ASSERT_GT(stored, 0U);
    for (std::uint64_t changes = 1 + random.below(8); changes > 0; --changes)
      block[24 + random.below(stored - 24)] = static_cast<std::byte>(random.next());
    (void)coder_.unpack(block.data(), stored, block.data());
    ASSERT_TRUE(is_untouched_behind(block));
  }
}

INSTANTIATE_TEST_SUITE_P(Terms, PackedBlock,
                         testing::Values(PackTerms{{BlockCodec::lz4, 0}, false}, PackTerms{{BlockCodec::zstd, 1}, false},
                                         PackTerms{{BlockCodec::lz4, 0}, true}, PackTerms{{BlockCodec::zstd, 1}, true},
                                         PackTerms{{BlockCodec::prefix, 0}, false, true},
                                         PackTerms{{BlockCodec::lz4, 0}, false, true},
                                         PackTerms{{BlockCodec::zstd, 1}, false, true}),
                         [](const auto& which) {
                           const BlockCodec codec = which.param.codec.codec;
                           const bool is_before = which.param.truncates && codec != BlockCodec::prefix;
                           return std::string(codec == BlockCodec::prefix ? "prefix"
                                              : codec == BlockCodec::lz4  ? "lz4"
                                                                          : "zstd") +
                                  (which.param.transposes ? "OfColumns" : "") + (is_before ? "OfTruncatedRows" : "");
                         });

// Every size of a record, with odd counts of them.
TEST(PackedBlockOfRecords, ComesBackWhateverTheSizeOfItsRecords) {
  for (std::uint32_t size = 1; size <= 256; ++size) {
    const BlockShape shape{block_bytes, size};
    const PackTerms terms{{BlockCodec::lz4, 0}, true};
    MemoryBudget budget(std::uint64_t{1} << 20U);
    const Buffer memory = budget.allocate(PackedBlockCoder::memory_bytes(terms.codec, shape), "a coder");
    PackedBlockCoder coder(terms.codec, shape, {memory.data(), memory.size()});
    Random random(size);
    std::vector<std::byte> plain(block_bytes);
    for (std::byte& byte : plain) byte = static_cast<std::byte>(random.below(3));
    for (const std::size_t most : {block_bytes - trailer_bytes, std::size_t{9001}, std::size_t{size}}) {
      const BlockContents contents{static_cast<std::uint32_t>(most / size * size), 0};
      std::vector<std::byte> block = plain;
      const std::size_t stored = coder.pack(terms, block.data(), contents, seed, block.data());
      ASSERT_GT(stored, 0U) << size;
      const auto back = coder.unpack(block.data(), stored, block.data());
      ASSERT_TRUE(back) << size;
      ASSERT_EQ(back->used_bytes, contents.used_bytes);
      ASSERT_TRUE(std::equal(block.begin(), block.begin() + contents.used_bytes, plain.begin())) << size;
    }
  }
}

// They were packed as bytes, and the head takes them for columns.
TEST(PackedBlockOfRecords, ThatHoldsAPartOfARecordIsRefused) {
  const BlockShape shape{block_bytes, record_size};
  const PackTerms terms{{BlockCodec::lz4, 0}, false};
  MemoryBudget budget(std::uint64_t{1} << 20U);
  const Buffer memory = budget.allocate(PackedBlockCoder::memory_bytes(terms.codec, shape), "a coder");
  PackedBlockCoder coder(terms.codec, shape, {memory.data(), memory.size()});
  for (const std::uint32_t used : {50 * record_size, 50 * record_size + 1}) {
    std::vector<std::byte> block(block_bytes);
    const std::size_t stored = coder.pack(terms, block.data(), {used, 0}, seed, block.data());
    ASSERT_GT(stored, 0U);
    constexpr std::size_t width_at = 20;
    std::memcpy(block.data() + width_at, &record_size, sizeof record_size);
    EXPECT_EQ(coder.unpack(block.data(), stored, block.data()).has_value(), used % record_size == 0);
  }
}

}  // namespace
}  // namespace ecosort::run
