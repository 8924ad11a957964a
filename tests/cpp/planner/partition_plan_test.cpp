// Checks how a partition divides its memory.
#include "planner/partition_plan.h"

#include <gtest/gtest.h>

#include "base/errors.h"
#include "planner/partition_rows_plan.h"

namespace ecosort::planner {
namespace {

constexpr std::uint64_t MiB = std::uint64_t{1} << 20U;

PartitionWanted wanted(std::uint64_t records, std::uint32_t size, std::uint64_t parts, std::uint64_t memory, bool is_sorted) {
  PartitionWanted wanted;
  wanted.records.format = records::make_record_format(size, {"0:1"});
  wanted.records.input_records = records;
  wanted.records.memory_bytes = memory;
  wanted.records.threads = 3;
  wanted.parts = parts;
  wanted.is_sorted = is_sorted;
  return wanted;
}

TEST(PartitionPlan, FitsTheMemoryOrNamesOneThatItFits) {
  for (const bool is_sorted : {false, true})
    for (const std::uint64_t records : {0, 1, 1000, 3'000'000})
      for (const std::uint32_t size : {1, 100, 1 << 20})
        for (const std::uint64_t parts : {1, 7, 200, 5000})
          for (const std::uint64_t memory : {std::uint64_t{0}, MiB, 16 * MiB, 100 * MiB, 1024 * MiB}) {
            try {
              const PartitionPlan plan = plan_partition(wanted(records, size, parts, memory, is_sorted));
              EXPECT_LE(plan.plan.peak_memory_bytes, memory);
              const Formation& formation = plan.plan.formation;
              EXPECT_GT(formation.write_blocks, parts) << "one block of each part, and one that is being written";
              EXPECT_GE(formation.write_block_bytes, least_slice_block_bytes);
              EXPECT_GE(formation.write_block_bytes, size + 4096U);
              EXPECT_GE(plan.runs * formation.run_records, records);
              if (is_sorted) {
                EXPECT_EQ(formation.run_buffers, plan.runs <= 1 ? 1U : 2U);
              }
            } catch (const NotEnoughMemory& error) {
              EXPECT_GT(error.need_bytes, memory);
              EXPECT_NO_THROW((void)plan_partition(wanted(records, size, parts, error.need_bytes, is_sorted)));
            }
          }
}

TEST(PartitionPlan, SortedRunsAreAsFewAsTheMemoryAllowsAndEqual) {
  const auto plan = [](std::uint64_t memory) { return plan_partition(wanted(3'000'001, 100, 7, memory, true)); };
  EXPECT_EQ(plan(512 * MiB).runs, 1U);
  const PartitionPlan several = plan(128 * MiB);
  EXPECT_GE(several.runs, 6U);  // 300 MB, and two runs with 48 bytes a record for their indexes in 128 MiB
  EXPECT_LE(several.runs, 7U);
  EXPECT_LT(several.runs * several.plan.formation.run_records - 3'000'001, several.runs);
  std::uint64_t before = 1;
  for (std::uint64_t memory = 512 * MiB; memory >= 8 * MiB; memory /= 2) {
    const std::uint64_t runs = plan(memory).runs;
    EXPECT_GE(runs, before);
    before = runs;
  }
  EXPECT_LE(before, 150U);
}

TEST(PartitionPlan, RunsThatKeepTheirOrderReadNoUnitTwice) {
  for (const std::uint32_t size : {1, 16, 100, 101, 1000}) {
    PartitionWanted of = wanted(3'000'000, size, 7, 100 * MiB, false);
    of.records.input_alignment = 512;
    const PartitionPlan plan = plan_partition(of);
    EXPECT_GT(plan.runs, 0U);
    if (plan.runs > 1) {
      EXPECT_EQ(plan.plan.formation.run_records * size % 4096, 0U) << size;
    }
  }
}

TEST(PartitionPlan, BlocksOfASmallRangeAreSmall) {
  const auto block = [](std::uint64_t records) {
    return plan_partition(wanted(records, 100, 200, 1024 * MiB, false)).plan.formation.write_block_bytes;
  };
  EXPECT_EQ(block(1000), least_slice_block_bytes);
  EXPECT_EQ(block(1'000'000'000), most_slice_block_bytes);
  EXPECT_LE(block(10'000'000) * 200, 10'000'000U * 100 / 16);
}

TEST(PartitionRowsPlan, FitsTheMemoryOrNamesOneThatItFits) {
  for (const bool is_sorted : {false, true})
    for (const std::uint64_t parts : {1, 7, 200, 5000})
      for (const std::uint64_t top : {0, 100, 100'000})
        for (const std::uint64_t memory : {MiB, 4 * MiB, 16 * MiB, 100 * MiB, 1024 * MiB}) {
          const auto plan_with = [&](std::uint64_t bytes) {
            return plan_partition_rows({bytes, 3, parts, std::uint64_t{1} << 30U, top, is_sorted});
          };
          try {
            const PartitionRowsPlan plan = plan_with(memory);
            const std::uint64_t tables = (plan.most_rows * 2 + 4095) / 4096 * 4096 + plan.table_bytes;
            EXPECT_LE(
                plan.lines.run_buffers * plan.lines.run_buffer_bytes + plan.lines.write_blocks * plan.slice_block_bytes + tables,
                memory);
            EXPECT_GT(plan.lines.write_blocks, parts);
            EXPECT_GE(plan.slice_block_bytes, top + 4096);
            EXPECT_GE(plan.lines.block_bytes, 4096U);
          } catch (const NotEnoughMemory& error) {
            EXPECT_GT(error.need_bytes, memory);
            EXPECT_NO_THROW((void)plan_with(error.need_bytes));
          }
        }
}

}  // namespace
}  // namespace ecosort::planner
