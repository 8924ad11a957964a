// Plans of whatever is asked for: sizes from 0 to 2^64, records of 1 byte to 1 MiB, any memory and number of threads. Each is an
// answer that keeps what a plan promises, or one line; a product that wrapped around would break one of these.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <optional>
#include <string>

#include "base/errors.h"
#include "base/random.h"
#include "cpp/support/test_environment.h"
#include "demsort_inplace/space_plan.h"
#include "planner/plan.h"

namespace ecosort::demsort_inplace {

namespace {

// Alike often in every order of magnitude.
std::uint64_t of_any_magnitude(Random& random, unsigned least_bits, unsigned most_bits) {
  const auto bits = static_cast<unsigned>(least_bits + random.below(most_bits - least_bits + 1));
  if (bits == 0) return 0;
  const std::uint64_t top = std::uint64_t{1} << (bits - 1);
  return random.below(8) == 0 ? (top - 1) * 2 + 1 : top + random.below(top);
}

planner::Wanted anything(Random& random) {
  planner::Wanted wanted;
  const auto size = static_cast<std::uint32_t>(of_any_magnitude(random, 1, 20));
  wanted.format = {size, {{0, std::min<std::uint32_t>(size, 10)}}};
  wanted.input_records = of_any_magnitude(random, 0, 64) / (random.below(2) == 0 ? wanted.format.record_size : 1);
  wanted.memory_bytes = of_any_magnitude(random, 0, 60);
  wanted.threads = static_cast<unsigned>(1 + random.below(random.below(4) == 0 ? 512 : 8));
  wanted.input_alignment = random.below(4) == 0 ? 65'536 : page_bytes;
  if (random.below(4) == 0) wanted.compression = codec::run_compression_of_word("lz4");
  return wanted;
}

std::string text_of(const planner::Wanted& wanted) {
  return fmt::format("{} records of {} bytes, {} bytes of memory, {} threads, unit {}", wanted.input_records,
                     wanted.format.record_size, wanted.memory_bytes, wanted.threads, wanted.input_alignment);
}

// Does `work` within a second of processor time; a refusal is an answer, too.
template <class Work>
void answers(const planner::Wanted& wanted, const Work& work) {
  const std::clock_t begin = std::clock();
  try {
    work();
  } catch (const NotEnoughMemory& error) {
    EXPECT_GT(error.need_bytes, wanted.memory_bytes) << text_of(wanted);
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
  }
  EXPECT_LT(std::clock() - begin, CLOCKS_PER_SEC * slowness * (is_emulated() ? 10 : 1)) << text_of(wanted);
}

std::uint64_t bytes_of(const planner::Wanted& wanted) { return wanted.input_records * wanted.format.record_size; }

}  // namespace

TEST(AnyPlan, OfASortIsAnAnswerOrOneLine) {
  Random random(1);
  for (int i = 0; i < (is_soak() ? 5'000 : 100); ++i) {
    const planner::Wanted wanted = anything(random);
    answers(wanted, [&] {
      const planner::RecordPlan plan = planner::make_plan(wanted);
      EXPECT_LE(plan.peak_memory_bytes, wanted.memory_bytes) << text_of(wanted);
      EXPECT_GE(plan.bytes_read, bytes_of(wanted)) << text_of(wanted);
      EXPECT_EQ(plan.bytes_read, bytes_of(wanted) + plan.run_bytes + plan.remerged_bytes) << text_of(wanted);
      EXPECT_GE(plan.run_bytes / std::max<std::uint64_t>(wanted.format.record_size, 1), plan.stored_records) << text_of(wanted);
      EXPECT_LE(plan.runs.size(), planner::most_runs) << text_of(wanted);
    });
  }
}

TEST(AnyPlan, OfAJobThatOutlivesACrashIsAnAnswerOrOneLine) {
  Random random(2);
  for (int i = 0; i < (is_soak() ? 500 : 6); ++i) {
    planner::Wanted wanted = anything(random);
    const Mode mode = std::array{Mode::in_place, Mode::beside_input, Mode::keeping_runs}[random.below(3)];
    if (mode == Mode::in_place) wanted.compression = {};
    const std::uint64_t free = of_any_magnitude(random, 0, 64);
    answers(wanted, [&] {
      if (wanted.input_records == 0) return;  // no job
      const SpaceChoice choice = choose_space(wanted, free, {.mode = mode});
      for (const std::optional<SpacePlan>& plan : {choice.best, choice.least}) {
        if (!plan) continue;
        EXPECT_EQ(plan->layout.bytes(), bytes_of(wanted)) << text_of(wanted);
        EXPECT_GE(plan->layout.total_bytes(), bytes_of(wanted)) << text_of(wanted);
        EXPECT_LE(plan->engine.peak_memory_bytes, wanted.memory_bytes) << text_of(wanted);
      }
      if (choice.best) {
        EXPECT_LE(choice.best->need_bytes(), free) << text_of(wanted);
      }
      if (choice.least) return;
      const std::uint64_t least = least_memory_bytes(wanted, {.mode = mode});
      EXPECT_GT(least, wanted.memory_bytes) << text_of(wanted);
    });
  }
}

}  // namespace ecosort::demsort_inplace
