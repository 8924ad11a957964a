#include "engine/fixed/split.h"

#include <gtest/gtest.h>

#include "cpp/engine/fixed/run_layout.h"

namespace ecosort::engine::fixed {

namespace {

constexpr std::array few_keys{Keys::uniform, Keys::two_values, Keys::common_prefix, Keys::all_equal, Keys::highest};

}  // namespace

TEST(SplitAtRank, CutsEveryRankWhereTheStableMergeDoes) {
  unsigned seed = 0;
  for (const records::RecordFormat& format : kernel_formats()) {
    const records::Encoder encoder(format);
    for (const Keys keys : few_keys) {
      for (const std::size_t k : {1UL, 2UL, 3UL, 7UL, 16UL}) {
        const RunSet set(format, keys, k, 14, ++seed);
        for (std::uint64_t rank = 0; rank <= set.count(); ++rank)
          ASSERT_EQ(split_at_rank(set.views, set.ranges, rank, encoder), set.cuts_at(rank))
              << "rank " << rank << " of " << set.count() << " in " << k << " runs, " << to_string(keys);
      }
    }
  }
}

TEST(SplitAtRank, LooksAtTheGivenRangesOnly) {
  const records::RecordFormat format{16, {{0, 4}}};
  const records::Encoder encoder(format);
  const RunSet set(format, Keys::common_prefix, 6, 40, 77);
  const std::vector<std::uint64_t> from = set.cuts_at(set.count() / 3);
  std::vector<RunRange> rest = set.ranges;
  for (std::size_t run = 0; run < rest.size(); ++run) rest[run].begin = from[run];
  for (std::uint64_t rank = 0; rank <= set.count() - set.count() / 3; ++rank)
    ASSERT_EQ(split_at_rank(set.views, rest, rank, encoder), set.cuts_at(set.count() / 3 + rank)) << rank;
}

TEST(SplitAtRank, CutsSortedIndexesWhereItCutsTheRuns) {
  unsigned seed = 0;
  for (const records::RecordFormat& format : kernel_formats()) {
    const records::Encoder encoder(format);
    for (const Keys keys : few_keys) {
      for (const std::uint32_t k : {1U, 2U, 3U, records::RecordTable::most_arrays}) {
        const RunSet set(format, keys, k, 14, ++seed);
        std::vector<std::string> records(k);
        std::vector<std::vector<sorting::Entry>> entries(k);
        std::vector<SortedIndex> runs;
        records::RecordTable table(format.record_size);
        for (std::uint32_t run = 0; run < k; ++run) {
          for (std::uint64_t n = set.ranges[run].begin; n < set.ranges[run].end; ++n)
            records[run].append(reinterpret_cast<const char*>(set.views[run].record(n)), format.record_size);
          const auto* data = reinterpret_cast<const std::byte*>(records[run].data());
          entries[run].resize(set.ranges[run].end - set.ranges[run].begin);
          extract(encoder, data, entries[run].size(), records::RecordTable::first_index(run), entries[run].data());
          table.add(records::RecordTable::first_index(run), data);
          runs.emplace_back(entries[run]);
        }
        for (std::uint64_t rank = 0; rank <= set.count(); ++rank) {
          std::vector<std::uint64_t> cuts = split_at_rank(runs, rank, encoder, table);
          for (std::uint32_t run = 0; run < k; ++run) cuts[run] += set.ranges[run].begin;
          ASSERT_EQ(cuts, set.cuts_at(rank))
              << "rank " << rank << " of " << set.count() << " in " << k << " runs, " << to_string(keys);
        }
      }
    }
  }
}

TEST(FirstAfter, IsWhereTheBoundEnds) {
  for (const records::RecordFormat& format : kernel_formats()) {
    const records::Encoder encoder(format);
    const RunSet set(format, Keys::common_prefix, 4, 20, 5);
    for (std::uint32_t of = 0; of < 4; ++of) {
      for (std::uint64_t number = set.ranges[of].begin; number < set.ranges[of].end; ++number) {
        const Bound bound{true, set.views[of].record(number), of};
        const std::string limit = set.key_of(of, number - set.ranges[of].begin);
        for (std::uint32_t run = 0; run < 4; ++run) {
          std::uint64_t expected = set.ranges[run].begin;
          while (expected < set.ranges[run].end) {
            const std::string key = set.key_of(run, expected - set.ranges[run].begin);
            if (key > limit || (key == limit && run > of)) break;
            ++expected;
          }
          ASSERT_EQ(first_after(set.views[run], set.ranges[run], run, bound, encoder), expected);
        }
      }
    }
    EXPECT_EQ(first_after(set.views[0], set.ranges[0], 0, Bound{}, encoder), set.ranges[0].end) << "no bound";
  }
}

// Records that are called safe must really come before every record of the later run with this forecast key. Returns how many
// records of all runs were called safe.
std::uint64_t count_safe(const RunSet& set, const records::Encoder& encoder, const run::SharedKey& shared) {
  std::uint64_t safe = 0;
  for (std::uint32_t later = 0; later < set.runs.size(); ++later) {
    for (std::uint64_t number = set.ranges[later].begin; number < set.ranges[later].end; ++number) {
      const run::ForecastKey unseen = shared.key_of(encoder, set.views[later].record(number));
      const std::string limit = set.key_of(later, number - set.ranges[later].begin);
      for (std::uint32_t run = 0; run < set.runs.size(); ++run) {
        if (run == later) continue;
        const RunRange& range = set.ranges[run];
        const std::uint64_t end = first_not_before(set.views[run], range, run, unseen, later, encoder, shared);
        safe += end - range.begin;
        for (std::uint64_t before = range.begin; before < end; ++before) {
          const std::string key = set.key_of(run, before - range.begin);
          EXPECT_TRUE(key < limit || (key == limit && run < later));
        }
        if (!encoder.decides() || end == range.end) continue;
        const std::string key = set.key_of(run, end - range.begin);
        EXPECT_TRUE(key > limit || (key == limit && run > later)) << "a short key is known as a whole: nothing safe is left out";
      }
    }
  }
  return safe;
}

TEST(FirstNotBefore, NeverPassesARecordThatMayStillCome) {
  std::uint64_t safe = 0;
  for (const records::RecordFormat& format : kernel_formats()) {
    const RunSet set(format, Keys::common_prefix, 4, 20, 9);
    safe += count_safe(set, records::Encoder(format), run::SharedKey());
  }
  EXPECT_GT(safe, 0U);
}

TEST(FirstNotBefore, GoesFartherWithLandmarks) {
  const records::RecordFormat format{40, {{0, 40}}};
  const records::Encoder encoder(format);
  for (unsigned seed = 1; seed < 20; ++seed) {
    const RunSet set(format, Keys::common_prefix, 4, 20, seed);
    run::SharedKey shared;
    std::vector<const std::byte*> key_sample;
    for (std::uint64_t i = 0; i < set.count(); i += 3)
      key_sample.push_back(reinterpret_cast<const std::byte*>(set.merged.data()) + i * format.record_size);
    shared.take_in(encoder, key_sample);
    shared.take_in_unknown();  // the twelve bytes are the first ones, as without key sample
    EXPECT_GT(count_safe(set, encoder, shared), count_safe(set, encoder, run::SharedKey()));
  }
}

}  // namespace ecosort::engine::fixed
