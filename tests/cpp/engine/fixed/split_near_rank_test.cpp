#include "engine/fixed/split_near_rank.h"

#include <gtest/gtest.h>

#include "cpp/engine/fixed/run_layout.h"

namespace ecosort::engine::fixed {

namespace {

std::uint64_t rank_of(const std::vector<std::uint64_t>& cuts, const std::vector<RunRange>& ranges) {
  std::uint64_t rank = 0;
  for (std::size_t run = 0; run < cuts.size(); ++run) rank += cuts[run] - ranges[run].begin;
  return rank;
}

}  // namespace

TEST(SplitNearRank, CutsWhereTheStableMergeDoesAtARankThatIsNear) {
  unsigned seed = 0, found = 0, given_up = 0;
  for (const records::RecordFormat& format : kernel_formats()) {
    const records::Encoder encoder(format);
    for (const Keys keys : {Keys::uniform, Keys::two_values, Keys::common_prefix, Keys::all_equal, Keys::highest}) {
      for (const std::size_t k : {1UL, 2UL, 3UL, 16UL}) {
        const RunSet set(format, keys, k, 90, ++seed);
        for (std::uint64_t rank = 0; rank <= set.count(); rank += 1 + rank / 8) {
          for (const std::uint64_t tolerance : {0UL, 3UL, 40UL}) {
            const auto cuts = split_near_rank(set.views, set.ranges, rank, tolerance, encoder);
            cuts ? ++found : ++given_up;
            if (!cuts) continue;
            const std::uint64_t reached = rank_of(*cuts, set.ranges);
            ASSERT_LE(reached, rank + tolerance);
            ASSERT_LE(rank, reached + tolerance);
            ASSERT_EQ(*cuts, set.cuts_at(reached)) << "rank " << rank << " of " << set.count() << " in " << k << " runs, "
                                                   << to_string(keys) << ", tolerance " << tolerance;
          }
        }
      }
    }
  }
  EXPECT_GT(found, 1000U);
  EXPECT_GT(given_up, 1000U) << "equal keys and short runs cannot all be guessed";
}

TEST(SplitNearRank, GuessesWellWhereRunsAreDrawnFromTheSameKeys) {
  const records::RecordFormat format{16, {{0, 10}}};
  const records::Encoder encoder(format);
  unsigned found = 0;
  constexpr unsigned sets = 40;
  for (unsigned seed = 1; seed <= sets; ++seed) {
    const RunSet set(format, Keys::uniform, 24, 4000, seed);
    const std::uint64_t rank = set.count() / 16;
    if (split_near_rank(set.views, set.ranges, rank, rank / 4, encoder)) ++found;
  }
  EXPECT_GT(found, sets * 3 / 4);
}

TEST(SplitNearRank, LooksAtTheGivenRangesOnly) {
  const records::RecordFormat format{16, {{0, 4}}};
  const records::Encoder encoder(format);
  const RunSet set(format, Keys::common_prefix, 6, 400, 77);
  const std::uint64_t begin = set.count() / 3;
  const std::vector<std::uint64_t> from = set.cuts_at(begin);
  std::vector<RunRange> rest = set.ranges;
  for (std::size_t run = 0; run < rest.size(); ++run) rest[run].begin = from[run];
  for (std::uint64_t rank = 0; rank <= set.count() - begin; ++rank) {
    const auto cuts = split_near_rank(set.views, rest, rank, set.count(), encoder);
    ASSERT_TRUE(cuts);
    ASSERT_EQ(*cuts, set.cuts_at(begin + rank_of(*cuts, rest))) << rank;
  }
}

}  // namespace ecosort::engine::fixed
