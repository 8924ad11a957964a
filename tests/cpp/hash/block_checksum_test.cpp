#include "hash/block_checksum.h"

#include <gtest/gtest.h>

#include <set>

#include "cpp/formats/records/test_support.h"

namespace ecosort::hash {
namespace {

TEST(BlockChecksum, IsXxh3AtEveryCpuLevel) {
  for (const CpuLevel level : records::available_cpu_levels()) {
    EXPECT_EQ(block_checksum_variant(level)(nullptr, 0, 0), 0x2d06800538d394c2U);  // XXH3's published value of the empty input
  }
}

TEST(BlockChecksum, IsTheSameAtEveryCpuLevelForAnySizeAndAlignment) {
  std::mt19937_64 random(1);
  for (const std::size_t size : {1UL, 7UL, 64UL, 240UL, 241UL, 1024UL, 4096UL, 4097UL, 65536UL, 262144UL}) {
    const std::size_t shift = random() % 64;
    const records::Bytes data = records::random_bytes(shift + size, random);
    const std::uint64_t seed = random();
    const std::uint64_t expected = block_checksum(data.get() + shift, size, seed);
    for (const CpuLevel level : records::available_cpu_levels()) {
      EXPECT_EQ(block_checksum_variant(level)(data.get() + shift, size, seed), expected) << to_string(level) << ", " << size;
    }
  }
}

TEST(BlockChecksum, ChangesWithEveryFlippedBitOfABlock) {
  std::mt19937_64 random(2);
  constexpr std::size_t size = 4096;
  const records::Bytes data = records::random_bytes(size, random);
  std::set<std::uint64_t> seen = {block_checksum(data.get(), size, 7)};
  for (std::size_t bit = 0; bit < 8 * size; ++bit) {
    records::flip_bit(data.get(), bit);
    seen.insert(block_checksum(data.get(), size, 7));
    records::flip_bit(data.get(), bit);
  }
  EXPECT_EQ(seen.size(), 8 * size + 1);
}

TEST(BlockChecksum, OfIntactDataInAnotherPlaceDiffers) {
  const std::vector<std::byte> zeros(4096);
  std::set<std::uint64_t> seen;
  for (std::uint64_t run_block = 0; run_block < 1000; ++run_block) {
    for (std::uint64_t run = 0; run < 10; ++run) seen.insert(block_checksum(zeros.data(), zeros.size(), run << 40U | run_block));
  }
  EXPECT_EQ(seen.size(), 10000U);
}

}  // namespace
}  // namespace ecosort::hash
