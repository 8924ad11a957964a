// One batch of a merge: any number of threads, into the output or into run blocks that are partly filled.
#include "engine/fixed/merge_batch.h"

#include <gtest/gtest.h>

#include <atomic>

#include "cpp/engine/fixed/run_layout.h"
#include "cpp/io/test_support.h"
#include "doubles/memory_store.h"
#include "engine/fixed/output_check.h"

namespace ecosort::engine::fixed {

namespace {

constexpr std::array thread_counts{1U, 2U, 3U, 7U};

std::string merged_part(const RunSet& set, std::uint64_t first, std::uint64_t count) {
  return set.merged.substr(first * set.format.record_size, count * set.format.record_size);
}

void consume(std::vector<RunRange>& ranges, const BatchResult& batch) {
  for (std::size_t run = 0; run < ranges.size(); ++run) ranges[run].begin = batch.consumed[run];
}

}  // namespace

TEST(MergeBatch, SuccessiveBatchesAreTheMergeForAnyThreads) {
  for (const records::RecordFormat& format : kernel_formats()) {
    const records::Encoder encoder(format);
    for (const Keys keys : {Keys::uniform, Keys::two_values, Keys::highest}) {
      const RunSet set(format, keys, 5, 1'500, 21);
      for (const unsigned threads : thread_counts) {
        std::vector<RunRange> ranges = set.ranges;
        const std::uint64_t batch = 1'400;  // enough per run to be split
        for (std::uint64_t done = 0; done < set.count();) {
          const std::uint64_t count = std::min(batch, set.count() - done);
          std::string out(count * format.record_size, '\0');
          const BatchResult result =
              merge_batch(set.views, ranges, count, encoder, {.data = reinterpret_cast<std::byte*>(out.data())}, threads);
          ASSERT_EQ(difference(out, merged_part(set, done, count), format.record_size), "") << threads << " threads";
          EXPECT_TRUE(result.checked.in_order);
          hash::MultisetHash hash;
          hash.add_records(reinterpret_cast<const std::byte*>(out.data()), count, format.record_size);
          EXPECT_EQ(result.checked.tally.hash, hash);
          done += count;
          consume(ranges, result);
          ASSERT_EQ(result.consumed, set.cuts_at(done));
        }
      }
    }
  }
}

// Batches begin and end inside run blocks; a run block is sealed when it becomes full, and not before.
TEST(MergeBatch, RunBlocksAreFilledAcrossBatchesAndSealedWhenFull) {
  const records::RecordFormat format{100, {{0, 10}}};
  const records::Encoder encoder(format);
  io::DiskImage image;
  image.directories = {"/runs"};
  io::MemoryStore disk(image);
  const std::unique_ptr<io::Queue> queue = disk.make_queue(40);
  io::Reactor reactor(*queue, 16, 16);
  planner::RecordPlan plan;
  plan.wanted.format = format;
  plan.run_block = {4096, 40};
  plan.formation.write_block_bytes = 4096;
  plan.forecast_bytes = 1U << 20U;
  run::RecordRuns store(disk, reactor, plan, {"/runs"});
  const RunSet set(format, Keys::common_prefix, 4, 2'000, 33);
  const std::size_t run = store.create(set.count());
  const std::uint64_t run_blocks = store.run(run).blocks;
  for (const unsigned threads : thread_counts) {
    const io::AlignedBuffer memory(run_blocks * 4096);
    std::vector<RunRange> ranges = set.ranges;
    BatchTarget target{memory.data(), &store, run, 0, 0};
    for (const std::uint64_t batch : {1UL, 38UL, 1UL, 41UL, 1'100UL, 7UL, 1'200UL, set.count()}) {
      const std::uint64_t count = std::min(batch, set.count() - target.filled);
      consume(ranges, merge_batch(set.views, ranges, count, encoder, target, threads));
      target.filled += count;
    }
    ASSERT_EQ(target.filled, set.count());
    if (const auto rest = static_cast<std::uint32_t>(set.count() % 40); rest > 0)
      store.seal_records(store.run(run), run_blocks - 1, rest, memory.data() + (run_blocks - 1) * 4096);
    std::string out;
    for (std::uint64_t g = 0; g < run_blocks; ++g) {
      EXPECT_NO_THROW(store.check(store.run(run), g, memory.data() + g * 4096))
          << "run block " << g << ", " << threads << " threads";
      const std::uint64_t records = std::min<std::uint64_t>(40, set.count() - g * 40);
      out.append(reinterpret_cast<const char*>(memory.data() + g * 4096), records * 100);
    }
    EXPECT_EQ(difference(out, set.merged, 100), "");
  }
}

TEST(MergeBatch, RecordsOutOfOrderAreSeenAndEqualOnesCounted) {
  const records::RecordFormat format{16, {{0, 4}}};
  const records::Encoder encoder(format);
  const std::string records = sorted_copy(format, make_records(format, Keys::two_values, 500));
  const auto* data = reinterpret_cast<const std::byte*>(records.data());
  EXPECT_TRUE(check_records(data, 500, encoder).in_order);
  EXPECT_EQ(check_records(data, 500, encoder).equal_pairs, 498);
  std::string swapped = records;
  std::swap_ranges(swapped.begin(), swapped.begin() + 16, swapped.end() - 16);
  EXPECT_FALSE(check_records(reinterpret_cast<std::byte*>(swapped.data()), 500, encoder).in_order);
}

}  // namespace ecosort::engine::fixed
