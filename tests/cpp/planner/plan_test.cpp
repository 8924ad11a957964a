// The plan, over random inputs and machines: what must hold for every plan, whatever was wanted.
#include "planner/plan.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <string_view>

#include "base/errors.h"
#include "base/memory.h"
#include "cpp/support/test_environment.h"

namespace ecosort::planner {

namespace {

constexpr std::uint64_t KiB = 1024, MiB = 1024 * KiB, GiB = 1024 * MiB;

// Spread evenly over the orders of magnitude.
std::uint64_t any_between(std::mt19937_64& random, std::uint64_t low, std::uint64_t high) {
  std::uniform_real_distribution<double> exponent(std::log2(static_cast<double>(low)), std::log2(static_cast<double>(high)));
  return std::clamp(static_cast<std::uint64_t>(std::exp2(exponent(random))), low, high);
}

Wanted random_wanted(std::mt19937_64& random) {
  Wanted wanted;
  const auto size = static_cast<std::uint32_t>(any_between(random, 1, records::max_record_size));
  wanted.format = {size, {{0, std::min(size, 10U)}}};
  wanted.memory_bytes = any_between(random, least_memory_bytes, 64 * GiB);
  // Mostly what the memory can sort; now and then next to nothing, or more than a disk holds.
  const std::uint64_t sensible = std::clamp<std::uint64_t>(wanted.memory_bytes / size * 4096, 4, 4'000'000'000'000);
  wanted.input_records = any_between(random, 1, random() % 16 == 0 ? 1'000'000'000'000 : sensible);
  if (random() % 16 == 0) wanted.input_records = random() % 4;
  wanted.threads = static_cast<unsigned>(random() % 65);
  wanted.several_inputs = random() % 3 == 0;
  wanted.input_alignment = std::array{1U, 512U, 4096U}[random() % 3];
  if (random() % 2 == 0)
    wanted.requests = {std::uint64_t{16'384} << random() % 9, 1 << 20,
                       std::array{1U, 3U, 64U, planner::most_depth}[random() % 4]};
  return wanted;
}

std::string describe(const Wanted& w) {
  return fmt::format("{} records of {} bytes, {} bytes of memory, {} threads, alignment {}, {} requests of {} bytes{}",
                     w.input_records, w.format.record_size, w.memory_bytes, w.threads, w.input_alignment, w.requests.depth,
                     w.requests.bytes, w.several_inputs ? ", several inputs" : "");
}

std::vector<std::uint64_t> runs_of(const RecordPlan& plan) {
  std::vector<std::uint64_t> runs;
  for (std::uint64_t left = plan.wanted.input_records; left > 0; left -= runs.back())
    runs.push_back(plan.formation.records_of_run(runs.size(), left));
  return runs;
}

std::uint64_t sum(const RecordPlan::Ledger& ledger) {
  std::uint64_t bytes = 0;
  for (const auto& [purpose, size] : ledger) bytes += size;
  return bytes;
}

// Nothing if the plan cannot be; else it can, and what the error proposes is tried, too.
std::optional<RecordPlan> plan_or_minimum(const Wanted& wanted) {
  try {
    return make_plan(wanted);
  } catch (const NotEnoughMemory& error) {
    EXPECT_EQ(error.have_bytes, wanted.memory_bytes);
    Wanted again = wanted;
    again.memory_bytes = error.need_bytes;
    EXPECT_GT(again.memory_bytes, wanted.memory_bytes) << error.what();
    EXPECT_NO_THROW((void)make_plan(again)) << error.what();
    return std::nullopt;
  }
}

void check_run_block(const RecordPlan& plan) {
  const std::uint64_t size = plan.wanted.format.record_size;
  EXPECT_EQ(plan.run_block.bytes % page_bytes, 0U);
  EXPECT_GE(plan.run_block.records, 1U);
  EXPECT_LE(plan.run_block.records * size + run_block_trailer_bytes, plan.run_block.bytes);
}

void check_memory(const RecordPlan& plan) {
  const std::uint64_t memory = plan.wanted.memory_bytes;
  EXPECT_LE(sum(plan.formation_ledger()), memory);
  EXPECT_LE(sum(plan.merge_ledger()), memory);
  EXPECT_LE(plan.merge.intermediate.memory_bytes() + plan.forecast_bytes, memory);
  EXPECT_LE(plan.peak_memory_bytes, memory);
  EXPECT_GE(plan.peak_memory_bytes, sum(plan.formation_ledger()));
  EXPECT_GE(plan.peak_memory_bytes, sum(plan.merge_ledger()));
}

void check_buffers(const RecordPlan& plan) {
  const Formation& f = plan.formation;
  EXPECT_LE(f.run_records, std::numeric_limits<std::uint32_t>::max());
  EXPECT_GE(f.run_buffer_bytes, f.run_records * plan.wanted.format.record_size);
  EXPECT_GE(f.index_bytes, f.run_records * entry_bytes);
  EXPECT_GE(f.scratch_bytes, f.run_records * entry_bytes);
  EXPECT_EQ(f.read_block_bytes % plan.wanted.input_alignment, 0U);
  EXPECT_EQ(f.write_block_bytes % plan.run_block.bytes, 0U);
  const std::uint64_t stride_bytes = std::uint64_t{plan.forecast_stride} * plan.run_block.bytes;
  for (const MergeBuffers* buffers : {&plan.merge.final, &plan.merge.intermediate}) {
    EXPECT_EQ(buffers->block_bytes % stride_bytes, 0U);
    if (buffers->output_blocks == 0) continue;
    if (plan.merge.stored_runs > 0) {
      EXPECT_GE(buffers->output_block_bytes, plan.run_block.bytes);
    }
  }
}

void check_runs_and_steps(const RecordPlan& plan) {
  const std::vector<std::uint64_t> runs = runs_of(plan);
  EXPECT_EQ(std::accumulate(runs.begin(), runs.end(), std::uint64_t{0}), plan.wanted.input_records);
  EXPECT_LE(runs.size(), most_runs);
  EXPECT_EQ(runs.size(), plan.merge.stored_runs + plan.merge.resident_runs);
  EXPECT_LE(plan.merge.resident_runs, plan.formation.run_buffers);
  std::uint64_t left = runs.size();
  for (std::size_t i = 0; i < plan.merge.steps.size(); ++i) {
    const MergeStep& step = plan.merge.steps[i];
    const bool is_last = i + 1 == plan.merge.steps.size();
    ASSERT_LE(step.first_run + step.fan_in, left);
    ASSERT_GE(step.fan_in, is_last ? 1U : 2U);
    const MergeBuffers& buffers = is_last ? plan.merge.final : plan.merge.intermediate;
    if (plan.merge.stored_runs > 0) {
      EXPECT_GE(buffers.blocks, 2 * step.fan_in);
    }
    left -= step.fan_in - 1;
  }
  EXPECT_EQ(left, 1U);
}

// Every run ends with a partial run block; beyond that, padding takes at most what the run block says.
void check_space(const RecordPlan& plan) {
  const std::uint64_t size = plan.wanted.format.record_size, input = plan.wanted.input_records * size;
  EXPECT_GE(plan.temp_bytes, plan.stored_records * size);
  if (plan.merge.passes > 1) return;
  const std::uint64_t full = plan.stored_records / plan.run_block.records * plan.run_block.bytes;
  EXPECT_LE(plan.temp_bytes, full + (plan.merge.stored_runs + std::uint64_t{1}) * plan.run_block.bytes);
  if (size <= 2048 && plan.wanted.memory_bytes >= 64 * MiB) {
    EXPECT_LE(plan.temp_bytes, input + input / 100 + plan.run_block.bytes);
  }
}

void check_bytes(const RecordPlan& plan) {
  const std::uint64_t input = plan.wanted.input_records * plan.wanted.format.record_size;
  if (plan.shape == Shape::one_pass) {
    EXPECT_EQ(plan.bytes_read, input);
    EXPECT_EQ(plan.temp_bytes, 0U);
  }
  if (plan.shape == Shape::two_pass) {
    EXPECT_EQ(plan.bytes_read, input + plan.temp_bytes);
  } else if (plan.shape == Shape::multi_pass) {
    EXPECT_GT(plan.bytes_read, input + plan.stored_records * plan.wanted.format.record_size);
  }
  EXPECT_EQ(plan.bytes_written, plan.bytes_read);
}

}  // namespace

TEST(Plan, HoldsItsPromisesForRandomInputsAndMachines) {
  std::mt19937_64 random(20240611);
  unsigned planned = 0;
  for (unsigned i = 0; i < 1500 / slowness && !testing::Test::HasFailure(); ++i) {
    const Wanted wanted = random_wanted(random);
    SCOPED_TRACE(describe(wanted));
    const std::optional<RecordPlan> plan = plan_or_minimum(wanted);
    if (!plan) continue;
    ++planned;
    check_run_block(*plan);
    check_memory(*plan);
    check_bytes(*plan);
    if (wanted.input_records == 0) continue;
    check_buffers(*plan);
    check_runs_and_steps(*plan);
    check_space(*plan);
  }
  EXPECT_GT(planned, 750 / slowness);
}

// Up to an eighth more may move, where that makes larger blocks.
TEST(Plan, MoreMemoryNeverMovesManyMoreBytes) {
  std::mt19937_64 random(7);
  for (unsigned i = 0; i < 1 + (is_soak() ? 30 : 10) / slowness && !testing::Test::HasFailure(); ++i) {
    Wanted wanted = random_wanted(random);
    std::uint64_t fewest = std::numeric_limits<std::uint64_t>::max();
    for (wanted.memory_bytes = least_memory_bytes; wanted.memory_bytes <= 64 * GiB;
         wanted.memory_bytes += any_between(random, wanted.memory_bytes / 64, wanted.memory_bytes / 2)) {
      SCOPED_TRACE(describe(wanted));
      try {
        const std::uint64_t now = make_plan(wanted).bytes_read;
        const std::uint64_t a_run_block = 64 * KiB;  // more or less is much for an input of a few
        EXPECT_LE(now - std::min(now, now / 8 + a_run_block), fewest);
        fewest = std::min(fewest, now);
      } catch (const UsageError&) {
        EXPECT_EQ(fewest, std::numeric_limits<std::uint64_t>::max()) << "less memory was enough";
      }
      if (testing::Test::HasFailure()) break;
    }
  }
}

// The largest input of which two passes are made leaves no room for one more run.
TEST(Plan, AMergeIsAsWideAsItsMemoryAllows) {
  for (const std::uint64_t memory : {2 * MiB, 5 * MiB, 16 * MiB, 64 * MiB}) {
    Wanted wanted{.format = {100, {{0, 10}}}, .memory_bytes = memory, .threads = 1};
    std::uint64_t low = memory / 10, high = 0;
    while (high == 0 || low + 1 < high) {
      wanted.input_records = high == 0 ? 2 * low : (low + high) / 2;
      (make_plan(wanted).merge.passes == 1 ? low : high) = wanted.input_records;
    }
    wanted.input_records = low;
    const RecordPlan plan = make_plan(wanted);
    ASSERT_EQ(plan.shape, Shape::two_pass);
    const MergeBuffers& buffers = plan.merge.final;
    const std::uint64_t least_of_a_run = 2 * std::uint64_t{plan.forecast_stride} * plan.run_block.bytes;
    EXPECT_LT(buffers.blocks * buffers.block_bytes, (runs_of(plan).size() + 1) * least_of_a_run) << memory;
  }
}

TEST(Plan, TheMinimumOfMemoryIsTheLeastThatWorks) {
  std::mt19937_64 random(11);
  for (unsigned i = 0; i < 1 + 24 / slowness && !testing::Test::HasFailure(); ++i) {
    Wanted wanted = random_wanted(random);
    const std::uint64_t least = minimum_memory_bytes(wanted);
    SCOPED_TRACE(describe(wanted));
    wanted.memory_bytes = least;
    EXPECT_NO_THROW((void)make_plan(wanted));
    wanted.memory_bytes = least - 512 * KiB;
    EXPECT_THROW((void)make_plan(wanted), UsageError);
  }
}

TEST(Plan, AnInputThatWouldMakeTooManyRunsIsRefusedWithTheMemoryThatIsEnough) {
  Wanted wanted{.format = {records::max_record_size, {{0, 10}}}, .input_records = 1'000'000'000'000, .memory_bytes = 64 * GiB};
  EXPECT_FALSE(plan_or_minimum(wanted));
  wanted.format.record_size = 100;
  wanted.memory_bytes = least_memory_bytes;
  EXPECT_FALSE(plan_or_minimum(wanted));
  wanted.memory_bytes = minimum_memory_bytes(wanted);
  EXPECT_LE(runs_of(make_plan(wanted)).size(), most_runs);
}

// Numbers beyond what any machine has must not wrap around: a stride that doubled to 0 divided by it.
TEST(Plan, AnySizeAndAnyMemoryHaveAPlanOrOneLine) {
  std::mt19937_64 random(13);
  for (unsigned i = 0; i < 200 / slowness; ++i) {
    Wanted wanted = random_wanted(random);
    wanted.input_records = any_between(random, 1, std::numeric_limits<std::uint64_t>::max());
    wanted.memory_bytes = any_between(random, 1, std::numeric_limits<std::uint64_t>::max());
    SCOPED_TRACE(describe(wanted));
    try {
      const RecordPlan plan = make_plan(wanted);
      EXPECT_LE(plan.peak_memory_bytes, wanted.memory_bytes);
      EXPECT_GE(plan.bytes_read, wanted.input_records * wanted.format.record_size);
    } catch (const UsageError&) {
    }
    if (testing::Test::HasFailure()) break;
  }
}

TEST(Plan, MoreRecordsThanAnyRunsCanHoldAreRefusedWhateverTheMemory) {
  const Wanted wanted{.format = {9, {{0, 9}}}, .input_records = 20'000'000'000'000, .memory_bytes = 64 * GiB};
  EXPECT_THROW((void)make_plan(wanted), UsageError);
}

}  // namespace ecosort::planner
