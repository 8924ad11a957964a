// The space of an in-place sort: never more than the layout says, and the plan that the space allows.
#include <gmock/gmock.h>

#include "base/errors.h"
#include "cpp/demsort_inplace/inplace_harness.h"
#include "cpp/support/test_environment.h"
#include "demsort_inplace/journal.h"
#include "demsort_inplace/space_plan.h"

namespace ecosort::demsort_inplace {

namespace {

constexpr std::uint64_t KiB = 1024, MiB = 1024 * KiB, GiB = 1024 * MiB, MB = 1'000'000;

planner::Wanted wanted(std::uint64_t bytes, std::uint64_t memory, std::uint32_t record_size = 100) {
  return {.format = {record_size, {{0, 1}}},
          .input_records = bytes / record_size,
          .memory_bytes = memory,
          .threads = 2,
          .input_alignment = page_bytes};
}

}  // namespace

TEST(InPlaceSpace, TheFirstPhaseNeverTakesMoreThanTheLayoutSays) {
  for (const SmallJob& job : small_jobs()) {
    const Layout layout = job.header().layout;
    std::uint64_t run_bytes = 0;
    for (std::uint64_t run = 0; run < layout.runs(); ++run) {
      run_bytes += layout.run_file_bytes(run, 0);
      const std::uint64_t input = layout.input_file_bytes(layout.records_left(run));
      EXPECT_LE(run_bytes + input, layout.total_bytes()) << job.name << " run " << run;
      EXPECT_EQ(run_bytes + input + layout.spare_bytes(run), layout.total_bytes()) << "all of it is held from the beginning";
    }
    EXPECT_EQ(run_bytes, layout.all_run_bytes());
    EXPECT_EQ(layout.records_left(layout.runs()), 0U);
    EXPECT_EQ(layout.input_file_bytes(0), 0U);
  }
}

// However unevenly the runs were consumed, the output may grow by an interval.
TEST(InPlaceSpace, EveryCheckpointLeavesRoomForAnInterval) {
  for (const SmallJob& job : small_jobs()) {
    const Layout layout = job.header().layout;
    for (std::uint64_t rest = 0; rest < layout.run_block.records; ++rest) {
      std::uint64_t run_bytes = 0, consumed = 0;
      for (std::uint64_t run = 0; run < layout.runs(); ++run) {
        const std::uint64_t of_run = std::min(layout.run_records(run) - 1, layout.run_block.records + rest);
        consumed += of_run;
        run_bytes += layout.run_file_bytes(run, of_run);
      }
      const std::uint64_t room = layout.output_room(run_bytes), begin = consumed * layout.record_size;
      EXPECT_GE(room, std::min(begin + layout.interval_bytes, layout.bytes())) << job.name << " rest " << rest;
    }
  }
}

TEST(InPlaceSpace, AGigabyteIsSortedInTwoPointFourPercent) {
  for (const std::uint64_t memory : {16 * MiB, 64 * MiB}) {
    const SpaceChoice choice = choose_space(wanted(1'000 * MB, memory), 24 * MB);
    ASSERT_TRUE(choice.best) << memory << ": " << choice.least->need_bytes();
    EXPECT_LE(choice.best->need_bytes(), 24 * MB);
    EXPECT_LE(choice.best->engine.peak_memory_bytes, memory);
  }
}

TEST(InPlaceSpace, TheLeastSpaceIsEnoughAndOneBlockLessIsNot) {
  unsigned turn = 0;
  for (const std::uint32_t record_size : {7U, 16U, 100U, 101U, 5'000U, 100'003U}) {
    for (const std::uint64_t bytes : {MB, 30 * MB, 700 * MB}) {
      if (turn++ % 2 == 1 && !is_soak()) continue;  // of one record size the least and the most, of the next what is between
      const planner::Wanted asked = wanted(bytes, 64 * MiB, record_size);
      const SpaceChoice choice = choose_space(asked, 0);
      ASSERT_TRUE(choice.least);
      EXPECT_FALSE(choice.best);
      const std::uint64_t need = choice.least->need_bytes();
      const SpaceChoice exact = choose_space(asked, need);
      ASSERT_TRUE(exact.best) << record_size << " " << bytes;
      EXPECT_LE(exact.best->need_bytes(), need);
      EXPECT_FALSE(choose_space(asked, need - page_bytes).best);
    }
  }
}

// So that no such layout has to be looked at once runs have a block each.
TEST(InPlaceSpace, MoreRunsOfABlockEachNeedMore) {
  for (const std::uint32_t record_size : {1U, 100U, 1'000U, 4'097U}) {
    for (const bool packs : {false, true}) {
      Layout layout{.records = 10'000, .record_size = record_size, .packs = packs};
      layout.run_block = planner::RunBlock::of(4 * planner::RunBlock::least_bytes(record_size, page_bytes), record_size);
      std::uint64_t last = 0;
      for (std::uint64_t records = layout.run_block.records; records > 0; records /= 2) {
        layout.piece_records = records;
        layout.interval_bytes = least_interval_bytes(layout);
        EXPECT_GT(layout.total_bytes(), last) << record_size << " " << records;
        last = layout.total_bytes();
      }
    }
  }
}

// The least space is what it would be if no run described itself; with more they do.
TEST(InPlaceSpace, DescriptionsOfRunsNeedNoneOfTheLeastSpace) {
  const planner::Wanted job = wanted(200 * MB, 16 * MiB);
  const SpaceChoice none = choose_space(job, 0);
  ASSERT_TRUE(none.least);
  EXPECT_EQ(none.least->layout.head_bytes, 0U);
  const SpaceChoice tight = choose_space(job, none.least->need_bytes()), ample = choose_space(job, 200 * MB);
  ASSERT_TRUE(tight.best && ample.best);
  EXPECT_EQ(tight.best->layout.head_bytes, 0U);
  EXPECT_EQ(ample.best->layout.head_bytes, page_bytes);
  const Ground kept{.mode = Mode::beside_input};
  EXPECT_EQ(choose_space(job, 0, kept).least->layout.head_bytes, page_bytes) << "where the input stays they always do";
}

TEST(InPlaceSpace, MoreRoomIsUsedForFewerRunsAndCheckpoints) {
  const planner::Wanted asked = wanted(2'000 * MB, 64 * MiB);
  std::uint64_t need_before = 0, checkpoints_before = UINT64_MAX;
  for (const std::uint64_t free : {30 * MB, 60 * MB, 200 * MB, 3'000 * MB}) {
    const SpaceChoice choice = choose_space(asked, free);
    ASSERT_TRUE(choice.best) << free;
    EXPECT_LE(choice.best->need_bytes(), free);
    EXPECT_GE(choice.best->need_bytes(), need_before);
    EXPECT_LE(choice.best->checkpoints, checkpoints_before);
    need_before = choice.best->need_bytes();
    checkpoints_before = choice.best->checkpoints;
  }
}

TEST(InPlaceSpace, TooLittleMemoryHasNoLayoutAndTheLeastHasOne) {
  planner::Wanted asked = wanted(100'000 * MB, 4 * MiB);
  EXPECT_FALSE(choose_space(asked, UINT64_MAX / 4).least);
  asked.memory_bytes = least_memory_bytes(asked);
  EXPECT_TRUE(choose_space(asked, UINT64_MAX / 4).best);
}

TEST(InPlaceSpace, TheLeastMemoryIsExactToA64thAndWhatNoMemorySortsIsRefused) {
  for (const std::uint64_t megabytes : {10'000U, 440'000U, 10'000'000U}) {
    planner::Wanted asked = wanted(megabytes * MB, 0);
    const std::uint64_t least = least_memory_bytes(asked);
    asked.memory_bytes = least;
    EXPECT_TRUE(choose_space(asked, 0).least) << megabytes;
    asked.memory_bytes = least - least / 64 - page_bytes;
    EXPECT_FALSE(choose_space(asked, 0).least) << megabytes << " MB in " << asked.memory_bytes;
  }
  EXPECT_THROW((void)least_memory_bytes(wanted(900'000'000 * MB, 0)), UsageError) << "more than 16,384 of the longest runs";
  EXPECT_THROW((void)least_memory_bytes(wanted(9'000'000 * MB, 0, 1)), UsageError);
  EXPECT_THROW((void)choose_space(wanted(std::uint64_t{1} << 63U, GiB), 0), UsageError);
}

TEST(InPlaceSpace, TenTerabytesAreMergedInOneStepWithAGigabyteOfMemory) {
  const SpaceChoice choice = choose_space(wanted(10'000'000 * MB, GiB), 240'000 * MB);
  ASSERT_TRUE(choice.best);
  const SpacePlan& plan = *choice.best;
  EXPECT_EQ(plan.engine.merge.passes, 1U);
  EXPECT_LE(plan.engine.peak_memory_bytes, GiB);
  EXPECT_GT(plan.engine.forecast_window, 0U);
  EXPECT_EQ(plan.layout.key_stride, plan.engine.forecast_stride)
      << "keys that are read again must be those of the merge's blocks";
  EXPECT_LE(least_memory_bytes(wanted(1'000'000 * MB, 0)), 192 * MiB);
}

// With more memory blocks would be larger; the runs keep the keys of smaller ones, for all of which there may be no room.
TEST(InPlaceSpace, AJobThatReadsItsKeysContinuesWithAnyMoreMemory) {
  const SpaceChoice choice = choose_space(wanted(100'000 * MB, 48 * MiB), 24'000 * MB);
  ASSERT_TRUE(choice.best);
  ASSERT_GT(choice.best->engine.forecast_window, 0U);
  const JobHeader header{.format = choice.best->engine.wanted.format, .layout = choice.best->layout, .memory_bytes = 48 * MiB};
  for (const std::uint64_t memory : {48 * MiB, 64 * MiB, 128 * MiB, 200 * MiB, 300 * MiB, 1'000 * MiB, 8 * GiB}) {
    const planner::RecordPlan plan = engine_plan(header, memory, 2);
    EXPECT_LE(plan.wanted.memory_bytes, memory);
    EXPECT_LE(plan.merge.final.memory_bytes() + plan.table_bytes(), plan.wanted.memory_bytes) << memory;
    EXPECT_EQ(plan.forecast_stride, header.layout.key_stride) << memory;
  }
  EXPECT_THROW((void)engine_plan(header, 24 * MiB, 2), NotEnoughMemory);
}

TEST(InPlaceSpace, TheLeastSpaceNeverMeansMillionsOfCheckpoints) {
  for (const std::uint64_t bytes : {10 * MB, 1'000 * MB, 1'000'000 * MB}) {
    const SpaceChoice choice = choose_space(wanted(bytes, 4'096 * MiB), 0);
    ASSERT_TRUE(choice.least);
    EXPECT_LE(choice.least->checkpoints, 4'200U) << bytes;
  }
}

TEST(InPlaceSpace, TheRecommendedSpaceIsEnoughAndCheckpointsAreRare) {
  for (const std::uint64_t bytes : {MB, 1'000 * MB, 1'000'000 * MB}) {
    const planner::Wanted asked = wanted(bytes, 1'024 * MiB);
    for (const Mode mode : {Mode::in_place, Mode::beside_input, Mode::keeping_runs}) {
      if (bytes > 1'000 * MB && mode != Mode::in_place && !is_soak()) continue;  // each takes a good part of a second
      const auto recommended = recommended_space(asked, {mode});
      ASSERT_TRUE(recommended);
      const SpaceChoice choice = choose_space(asked, recommended->need_bytes(), {mode});
      ASSERT_TRUE(choice.best);
      EXPECT_LE(choice.least->need_bytes(), recommended->need_bytes());
      EXPECT_LE(choice.best->checkpoints, 1'000U);
    }
  }
}

// Space that is not given up has to be there besides.
TEST(InPlaceSpace, AnInputThatStaysAndRunsThatDoNotGiveWayNeedTheirSpace) {
  const planner::Wanted asked = wanted(1'000 * MB, 64 * MiB);
  const SpacePlan least = *choose_space(asked, 0, {Mode::in_place}).least;
  const std::uint64_t in_place = least.need_bytes(), descriptions = least.layout.runs() * page_bytes;
  const std::uint64_t beside = choose_space(asked, 0, {Mode::beside_input}).least->need_bytes();
  const std::uint64_t keeping = choose_space(asked, 0, {Mode::keeping_runs}).least->need_bytes();
  EXPECT_GE(beside, 1'000 * MB + in_place);
  EXPECT_LE(beside, 1'000 * MB + in_place + page_bytes + descriptions);
  EXPECT_GE(keeping, 2'000 * MB);
  EXPECT_LE(keeping, 2'040 * MB);
}

// The bound is that of the files themselves: a disk with exactly so much space suffices.
TEST(InPlaceSpace, AJobStaysWithinItsBoundOnADiskThatHasNoMore) {
  for (const SmallJob& job : small_jobs()) {
    const std::uint64_t bound = job.header().layout.total_bytes() + Journal::size_bytes(job.header());
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
      MemoryMachine disk(job.disk(), {.seed = seed, .capacity_bytes = bound, .records_events = false});
      EXPECT_NO_THROW((void)disk.machine.start(job)) << job.name;
      EXPECT_TRUE(holds_only(disk.store.snapshot(), job.sorted())) << job.name;
      EXPECT_LE(disk.store.most_allocated_bytes(), bound);
    }
  }
}

}  // namespace ecosort::demsort_inplace
