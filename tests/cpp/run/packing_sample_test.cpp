// Samples of records against whole runs of them, packed block by block.
#include "run/packing_sample.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <vector>

#include "base/random.h"
#include "cpp/support/test_environment.h"
#include "formats/records/gather.h"
#include "formats/records/index_sort.h"
#include "planner/fit_formation.h"
#include "sortbenchmark/gensort.h"

namespace ecosort::run {
namespace {

constexpr std::uint64_t MiB = std::uint64_t{1} << 20U;

// `count` records from number `first` on.
using Generate = std::function<std::vector<std::byte>(std::uint64_t first, std::uint64_t count)>;

Generate gensort(sortbenchmark::GensortFormat format) {
  return [=](std::uint64_t first, std::uint64_t count) {
    std::vector<std::byte> data(count * sortbenchmark::gensort_record_bytes);
    sortbenchmark::GensortRecords(format, make_uint128(0, first)).generate(data.data(), count);
    return data;
  };
}

// A random key of eight bytes and the number of the record.
std::vector<std::byte> numbered(std::uint64_t first, std::uint64_t count) {
  std::vector<std::byte> data(count * 16);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t key = Random(first + i).next(), number = first + i;
    std::memcpy(data.data() + i * 16, &key, sizeof key);
    std::memcpy(data.data() + i * 16 + 8, &number, sizeof number);
  }
  return data;
}

planner::RecordPlan plan_of(const records::RecordFormat& format, const std::string& compression) {
  planner::RecordPlan plan;
  plan.wanted.format = format;
  plan.run_block = planner::choose_run_block(format.record_size, 64 * MiB, planner::BlockUse::packed);
  plan.packing.wanted = codec::run_compression_of_word(compression);
  plan.packing.coders = 1;
  return plan;
}

// Returns what a sorted run of these records takes on the drive.
std::uint64_t stored_bytes(const planner::RecordPlan& plan, const PackTerms& terms, const std::vector<std::byte>& data) {
  const records::Encoder encoder(plan.wanted.format);
  const std::uint64_t size = encoder.record_size(), count = data.size() / size;
  std::vector<sorting::Entry> entries(count), scratch(count);
  records::extract(encoder, data.data(), count, 0, entries.data());
  records::sort_entries(entries.data(), scratch.data(), count);
  const BlockShape shape{plan.run_block.bytes, encoder.record_size()};
  MemoryBudget budget(64 * MiB);
  const Buffer memory = budget.allocate(PackedBlockCoder::memory_bytes(plan.packing.wanted.terms, shape), "a coder");
  PackedBlockCoder coder(plan.packing.wanted.terms, shape, memory.as<std::byte>());
  std::vector<std::byte> block(plan.run_block.bytes);
  const records::RecordTable table(data.data(), encoder.record_size());
  std::uint64_t stored = 0;
  for (std::uint64_t first = 0; first < count; first += plan.run_block.records) {
    const auto here = static_cast<std::uint32_t>(std::min<std::uint64_t>(plan.run_block.records, count - first));
    records::gather(entries.data() + first, here, table, block.data());
    stored += coder.try_out(terms, block.data(), {.used_bytes = here * encoder.record_size()});
  }
  return stored;
}

// Checks what is chosen where it was asked for. Stretches are so many times shorter than the run that they predict.
void expect_close(planner::RecordPlan plan, const Generate& generate, std::uint64_t run_records, std::uint64_t shorter,
                  double tolerance) {
  plan.formation.run_records = run_records;
  PackingSample sample(plan, run_records / shorter);
  for (std::uint64_t i = 0; i < 4; ++i) sample.add(generate(i * run_records / 4, run_records / shorter));
  const CodecChoice choice = choose_terms(plan.packing, {}, sample.trials(run_records));
  const auto found = static_cast<double>(sample.packed(choice).run_bytes(plan.run_block, run_records));
  const auto stored = static_cast<double>(stored_bytes(plan, choice.terms, generate(0, run_records)));
  EXPECT_NEAR(found / stored, 1, tolerance) << text_of(choice.terms);
}

const records::RecordFormat benchmark = records::make_record_format(100, {});

TEST(PackingSampleTest, StretchesAsLongAsARunTellWhatItTakes) {
  for (const char* const codec : {"lz4", "zstd:1"}) {
    expect_close(plan_of(benchmark, codec), gensort({.ascii = true}), 100'000, 1, 0.01);
    expect_close(plan_of(benchmark, codec), gensort({.ascii = true, .skewed = true}), 100'000, 1, 0.02);
    expect_close(plan_of(records::make_record_format(16, {"0:u64"}), codec), numbered, 400'000, 1, 0.01);
  }
}

// A byte of a random key goes at once, not by parts of it: what is left of 16 bytes is known less exactly.
TEST(PackingSampleTest, ShorterStretchesTellOfLongerRuns) {
  for (const char* const codec : is_soak() ? std::vector{"lz4", "zstd:1"} : std::vector{"lz4"}) {
    expect_close(plan_of(benchmark, codec), gensort({.ascii = true}), 800'000, 8, 0.02);
    expect_close(plan_of(benchmark, codec), gensort({.ascii = true, .skewed = true}), 800'000, 8, 0.03);
    expect_close(plan_of(records::make_record_format(16, {"0:u64"}), codec), numbered, 3'200'000, 8, 0.08);
  }
}

// The stretches are as long as what they become where runs are merged again.
TEST(PackingSampleTest, LongerStretchesTellOfShorterRuns) {
  planner::RecordPlan plan = plan_of(benchmark, "lz4");
  plan.formation.run_records = 20'000;
  PackingSample sample(plan, 400'000);
  sample.add(gensort({.ascii = true})(0, 400'000));
  for (const Trial& trial : sample.trials(20'000)) {
    const auto found = static_cast<double>(sample.packed({trial.terms, ""}).run_bytes(plan.run_block, 20'000));
    const auto stored = static_cast<double>(stored_bytes(plan, trial.terms, gensort({.ascii = true})(100'000, 20'000)));
    EXPECT_NEAR(found / stored, 1, 0.02) << text_of(trial.terms);
  }
}

TEST(PackingSampleTest, WhatDoesNotShrinkHasWholeBlocks) {
  const planner::RecordPlan plan = plan_of(records::make_record_format(64, {"0:8"}), "lz4");
  PackingSample sample(plan, 20'000);
  Random random(7);
  std::vector<std::byte> data(64 * 20'000);
  for (std::byte& byte : data) byte = static_cast<std::byte>(random.next());
  sample.add(data);
  const std::uint64_t records = 10 * plan.run_block.records;
  for (const Trial& trial : sample.trials(records)) EXPECT_EQ(trial.ratio, 1) << text_of(trial.terms);
  EXPECT_EQ(sample.packed({{plan.packing.wanted.terms, false}, ""}).run_bytes(plan.run_block, records),
            10 * plan.run_block.bytes);
}

TEST(PackingSampleTest, AFewRecordsTellOfABlock) {
  const planner::RecordPlan plan = plan_of(benchmark, "zstd:1");
  PackingSample sample(plan, 30);
  sample.add(gensort({.ascii = true})(0, 30));
  const planner::SampledPacking packed = sample.packed({{plan.packing.wanted.terms, true}, "asked for"});
  EXPECT_EQ(packed.run_bytes(plan.run_block, 30), 4096U);
  EXPECT_EQ(packed.why, "asked for");
  EXPECT_TRUE(packed.transposes);
  EXPECT_EQ(packed.sample_bytes, 3000U);
  EXPECT_TRUE(sample.packed({{}, "not worth it"}).size.empty());
}

}  // namespace
}  // namespace ecosort::run
