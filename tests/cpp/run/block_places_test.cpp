// The table of the places of a packed run's blocks comes back, and nothing that was changed, foreign or impossible is taken for
// it.
#include "run/block_places.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "base/memory.h"

namespace ecosort::run {
namespace {

constexpr std::uint64_t block_bytes = 4 * page_bytes, seed = 77;
const std::vector<std::uint32_t> ends{2, 3, 7, 8};

std::optional<std::vector<std::uint32_t>> decoded(const std::vector<std::byte>& bytes, std::uint64_t of_seed = seed) {
  return decode_places(bytes, ends.size(), block_bytes, ends.back() * page_bytes, of_seed);
}

// Makes a checksum that is right for what is there.
std::vector<std::byte> table_of(const std::vector<std::uint32_t>& any) { return encode_places(any, seed); }

}  // namespace

TEST(BlockPlaces, ComeBack) {
  EXPECT_EQ(decoded(encode_places(ends, seed)), ends);
  EXPECT_EQ(places_bytes(0), page_bytes);
  EXPECT_EQ(places_bytes(1'022), page_bytes);
  EXPECT_EQ(places_bytes(1'023), 2 * page_bytes);
  std::vector<std::uint32_t> many;
  for (std::uint32_t end = 1; end <= 5'000; ++end) many.push_back(end);
  EXPECT_EQ(decode_places(encode_places(many, 3), 5'000, block_bytes, 5'000 * page_bytes, 3), many);
}

TEST(BlockPlaces, TablesOfSeveralRunsFitWhatIsPlannedForThem) {
  for (const std::uint64_t runs : {1U, 3U, 50U})
    for (const std::uint64_t each : {1U, 1'022U, 1'023U, 4'000U})
      EXPECT_LE(runs * places_bytes(each), most_places_bytes(runs, runs * each)) << runs << " of " << each;
}

TEST(BlockPlaces, EveryChangedByteIsNoticedAndSoIsAnotherRun) {
  const std::vector<std::byte> table = encode_places(ends, seed);
  for (std::size_t at = 0; at < table.size(); ++at) {
    std::vector<std::byte> changed = table;
    changed[at] ^= std::byte{1};
    EXPECT_FALSE(decoded(changed)) << at;
  }
  EXPECT_FALSE(decoded(table, seed + 1));
  EXPECT_FALSE(decoded({table.begin(), table.end() - 1}));
  EXPECT_FALSE(decoded({}));
}

TEST(BlockPlaces, BlocksThatCannotBeAreRefused) {
  EXPECT_FALSE(decoded(table_of({2, 2, 7, 8}))) << "an empty one";
  EXPECT_FALSE(decoded(table_of({2, 1, 7, 8}))) << "one that ends before it begins";
  EXPECT_FALSE(decoded(table_of({0, 3, 7, 8})));
  EXPECT_FALSE(decoded(table_of({2, 3, 8, 8})));
  EXPECT_FALSE(decoded(table_of({2, 3, 4, 9}))) << "one larger than a block, and all of them";
  EXPECT_FALSE(decoded(table_of({2, 3, 6, 7}))) << "fewer bytes than there are";
  EXPECT_FALSE(decoded(table_of({0xffffffff, 3, 7, 8})));
}

}  // namespace ecosort::run
