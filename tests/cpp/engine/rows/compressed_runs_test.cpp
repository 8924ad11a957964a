// `auto` chooses for runs on a drive of a given speed: it sees the pace of the drive and the first rows of each run, and may
// change its mind from run to run.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "cpp/support/line_words.h"
#include "cpp/support/test_environment.h"
#include "doubles/memory_store.h"
#include "doubles/throttled_queue.h"
#include "engine/rows/lines_sort.h"

namespace ecosort::engine::rows {
namespace {

constexpr unsigned depth = 40;
constexpr double slow_bytes_per_s = 20e6;

std::string rows_of_words(std::size_t bytes) {
  constexpr std::string_view words[] = {"a slow drive ", "moves fewer bytes ", "where runs ", "are compressed "};
  Random random(1);
  std::string text;
  while (text.size() < bytes) {
    for (std::uint64_t count = 1 + random.below(8); count > 0; --count) text += words[random.below(4)];
    text += std::to_string(random.below(1'000'000)) + '\n';
  }
  return text;
}

std::string random_rows(std::size_t bytes) {
  Random random(2);
  std::string text(bytes, '\n');
  for (std::size_t i = 0; i < bytes; ++i)
    if (i % 100 != 99) text[i] = static_cast<char>(random.next() | 0x80U);
  return text;
}

struct Sorted {
  LinesReport report;
  std::string output;
  double wall_s = 0;
};

Sorted sort(const std::string& input, const codec::RunCompression& wanted) {
  io::MemoryStore store(io::make_image({{"/disk/in", input}}), {.records_events = false});
  const std::unique_ptr<io::Queue> below = store.make_queue(depth);
  io::ThrottledQueue queue(*below, depth, {slow_bytes_per_s, false});
  LinesJob job;
  job.plan = planner::plan_lines(std::uint64_t{2} << 20U, 2, SIZE_MAX, false);
  job.inputs.emplace_back();
  job.inputs.back().name = "/disk/in";
  job.inputs.back().open(store);
  job.output = "/disk/out";
  job.directories = {"/disk"};
  job.format = std::make_unique<lines::LineOrder>(lines::order_of_words({}));
  job.codecs.runs = {.wanted = wanted,
                     .coders = 2,
                     .index_bytes = std::uint64_t{64} << 10U,
                     .coder_bytes = 2 * run::PackedBlockCoder::memory_bytes(wanted.terms, {job.plan.block_bytes})};
  Progress progress;
  PhaseLog log("");
  const std::atomic<int> nothing{0};
  const double begin_s = monotonic_seconds();
  Sorted sorted{sort_lines(job, {store, queue, progress, log, nothing}), "", 0};
  sorted.wall_s = monotonic_seconds() - begin_s;
  sorted.output = store.contents("/disk/out");
  return sorted;
}

const codec::RunCompression automatic = codec::run_compression_of_word("auto");

TEST(CompressedRuns, AutoCompressesOnASlowDriveAndMovesFewerBytes) {
  const std::string input = rows_of_words(4'000'000);
  const Sorted compressed = sort(input, automatic);
  ASSERT_TRUE(compressed.report.run_packing);
  const Sorted plain = sort(input, {});
  EXPECT_EQ(compressed.output, plain.output);
  EXPECT_EQ(compressed.report.hash, plain.report.hash);
  const auto moved = [](const Sorted& sorted) { return sorted.report.traffic.bytes_read + sorted.report.traffic.bytes_written; };
  if (!is_emulated() && slowness == 1) {  // such a processor compresses too slowly to gain
    EXPECT_NE(compressed.report.run_packing->last.codec.codec, codec::BlockCodec::none) << compressed.report.run_packing->why;
    EXPECT_LT(moved(compressed), moved(plain) * 4 / 5);
  }
  EXPECT_GE(plain.wall_s, static_cast<double>(moved(plain)) / slow_bytes_per_s * 0.9) << "the drive is as slow as it should be";
}

TEST(CompressedRuns, AutoChangesItsMindWhereTheRowsChange) {
  const std::string input = random_rows(2'000'000) + rows_of_words(2'000'000);
  const Sorted sorted = sort(input, automatic);
  ASSERT_TRUE(sorted.report.run_packing);
  const run::PackingReport& packing = *sorted.report.run_packing;
  EXPECT_LT(packing.packed_blocks, packing.blocks * 3 / 4);
  if (!is_emulated() && slowness == 1) {
    EXPECT_GT(packing.packed_blocks, packing.blocks / 4);
    EXPECT_NE(packing.last.codec.codec, codec::BlockCodec::none);
  }
  EXPECT_EQ(sorted.output, sort(input, {}).output);
}

TEST(CompressedRuns, AutoLeavesAloneWhatDoesNotShrink) {
  const Sorted sorted = sort(random_rows(2'000'000), automatic);
  ASSERT_TRUE(sorted.report.run_packing);
  EXPECT_EQ(sorted.report.run_packing->packed_blocks, 0U);
  EXPECT_EQ(sorted.report.run_packing->last.codec.codec, codec::BlockCodec::none);
}

}  // namespace
}  // namespace ecosort::engine::rows
