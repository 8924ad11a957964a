// Runs of records that are compressed: the output is the same for every codec, record size, memory and number of threads, and
// what `auto` makes of a drive of a given speed.
#include <gmock/gmock.h>

#include <atomic>

#include "base/random.h"
#include "cpp/engine/fixed/sort_harness.h"
#include "cpp/support/test_environment.h"
#include "doubles/memory_store.h"
#include "doubles/throttled_queue.h"

namespace ecosort::engine::fixed {
namespace {

using planner::Shape;

constexpr std::uint64_t MiB = 1U << 20U;
constexpr unsigned depth = 40;
constexpr double slow_bytes_per_s = 20e6;

SortResult expect_sorted(const SortSetup& setup, Disk disk = Disk::memory) {
  SCOPED_TRACE(describe(setup) + ", " + to_string(disk));
  std::string all;
  for (const std::string& input : setup.inputs) all += input;
  SortResult result;
  try {
    result = run_sort(setup, disk);
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
    return result;
  }
  EXPECT_EQ(difference(result.output, sorted_copy(setup.format, all, setup.unique), setup.format.record_size), "");
  EXPECT_LE(result.report.peak_memory_bytes, setup.memory_bytes);
  EXPECT_LE(result.report.peak_temp_bytes, result.report.plan.temp_bytes);
  return result;
}

// Most of a record belongs to its key, whose bytes are alike: it shrinks.
records::RecordFormat shrinking(std::uint32_t size) { return {size, {{0, size >= 16 ? size - size / 8 : size}}}; }

SortSetup setup_of(std::uint32_t size, Keys keys, const char* codec) {
  const records::RecordFormat format = shrinking(size);
  SortSetup setup{.format = format, .inputs = {make_records(format, keys, (size < 4000 ? 4 : 16) * MiB / (size + 16))}};
  setup.compression = codec::run_compression_of_word(codec);
  return setup;
}

class CompressedRecords : public ::testing::TestWithParam<std::tuple<std::uint32_t, const char*>> {};

INSTANTIATE_TEST_SUITE_P(All, CompressedRecords,
                         ::testing::Combine(::testing::Values(1U, 2U, 7U, 16U, 33U, 100U, 101U, 1000U, 4097U, 20'000U),
                                            ::testing::Values("lz4", "zstd")),
                         [](const auto& parameter) {
                           return std::string(std::get<1>(parameter.param)) + "_" + std::to_string(std::get<0>(parameter.param));
                         });

TEST_P(CompressedRecords, ComeOutAsTheyWouldOtherwise) {
  const auto [size, codec] = GetParam();
  unsigned variant = size, turn = std::string_view(codec) == "lz4" ? 0 : 1;  // each kind of keys with one of the codecs, or both
  for (const Keys keys : {Keys::common_prefix, Keys::two_letters, Keys::all_equal}) {
    if (++turn % 2 == 0 && !is_soak()) continue;
    SortSetup setup = setup_of(size, keys, codec);
    setup.threads = variant++ % 4;
    setup.directories = 1 + variant % 3;
    setup.memory_bytes =
        std::max<std::uint64_t>(3 * MiB, planner::minimum_memory_bytes({.format = setup.format,
                                                                        .input_records = setup.inputs[0].size() / size,
                                                                        .threads = 4,
                                                                        .compression = setup.compression}));
    const SortResult result = expect_sorted(setup);
    ASSERT_TRUE(result.report.run_packing);
    EXPECT_GT(result.report.run_packing->packed_blocks, result.report.run_packing->blocks / 2);
    EXPECT_LT(result.report.run_packing->stored_bytes, result.report.run_packing->plain_bytes);
  }
}

TEST(CompressedRecordsOf, RandomBytesAreStoredAsTheyAre) {
  const records::RecordFormat format{100, {{0, 10}}};
  SortSetup setup{.format = format, .inputs = {make_records(format, Keys::uniform, 40'000)}};
  Random random(4);
  for (char& byte : setup.inputs[0]) byte = static_cast<char>(random.next());
  setup.compression = codec::run_compression_of_word("lz4");
  const SortResult result = expect_sorted(setup);
  ASSERT_TRUE(result.report.run_packing);
  EXPECT_LE(result.report.run_packing->packed_blocks, result.report.runs) << "the last block of a run, which is not full";
}

TEST(CompressedRecordsOf, BothKindsOfBlocksStandInOneRun) {
  const records::RecordFormat format{100, {{0, 1}}};
  std::string input = make_records(format, Keys::uniform, 40'000);
  for (std::size_t at = 0; at < input.size(); at += 100)
    if (static_cast<unsigned char>(input[at]) < 128) std::fill_n(&input[at + 1], 99, 'x');  // those come first in every run
  SortSetup setup{.format = format, .inputs = {input}};
  setup.compression = codec::run_compression_of_word("lz4");
  setup.threads = 2;
  const SortResult result = expect_sorted(setup);
  ASSERT_TRUE(result.report.run_packing);
  EXPECT_GT(result.report.run_packing->packed_blocks, result.report.run_packing->blocks / 4);
  EXPECT_LT(result.report.run_packing->packed_blocks, result.report.run_packing->blocks * 3 / 4);
}

class CompressedRecordsOn : public ::testing::TestWithParam<Disk> {};

INSTANTIATE_TEST_SUITE_P(All, CompressedRecordsOn, ::testing::ValuesIn(usable_disks()),
                         [](const auto& parameter) { return std::string(to_string(parameter.param)); });

TEST_P(CompressedRecordsOn, AreTheSameBytesForAnyMemoryThreadsAndDirectories) {
  auto turn = static_cast<unsigned>(GetParam());
  for (const std::uint64_t memory : {2 * MiB, 3 * MiB, 64 * MiB}) {
    for (const unsigned threads : {0U, 1U, 3U}) {
      if (++turn % 3 != 0 && !is_soak()) continue;  // the next disks have the other combinations
      SortSetup setup = setup_of(100, Keys::common_prefix, "zstd:2");
      setup.memory_bytes = memory;
      setup.threads = threads;
      setup.directories = 1 + threads;
      setup.unique = threads == 1;
      expect_sorted(setup, GetParam());
    }
    ++turn;  // or a disk would have the same threads with any memory
  }
}

TEST_P(CompressedRecordsOn, SeveralPassesPackWhatTheyMerge) {
  const records::RecordFormat format{10'000, {{0, 9'000}}};
  SortSetup setup{.format = format, .inputs = {make_records(format, Keys::common_prefix, 1'200)}};
  setup.compression = codec::run_compression_of_word("lz4");
  setup.threads = 2;
  setup.memory_bytes =
      planner::minimum_memory_bytes({.format = format, .input_records = 1'200, .threads = 2, .compression = setup.compression});
  const SortResult result = expect_sorted(setup, GetParam());
  EXPECT_EQ(result.report.plan.shape, Shape::multi_pass);
  ASSERT_TRUE(result.report.run_packing);
  EXPECT_GT(result.report.run_packing->plain_bytes, setup.inputs[0].size()) << "some were packed more than once";
  EXPECT_LT(result.report.traffic.bytes_written, result.report.plan.bytes_written * 2 / 3);
}

struct OnSlowDrive {
  SortReport report;
  std::string output;
};

OnSlowDrive sort_slowly(const SortSetup& setup) {
  const std::unique_ptr<SortPlace> place = make_place(setup);
  io::ThrottledQueue queue(place->queue(), depth, {slow_bytes_per_s, false});
  SortResult result = run_sort(setup, *place, place->storage(), queue);
  return {std::move(result.report), std::move(result.output)};
}

TEST(CompressedRecordsOf, AutoDoesWithSmallerBlocksOrWithoutCodersWhereTheyCostMore) {
  const auto plan_of = [](const char* word, std::uint64_t memory_bytes, std::uint64_t records) {
    planner::Wanted wanted{.format = setup_of(100, Keys::common_prefix, word).format};
    wanted.memory_bytes = memory_bytes;
    wanted.input_records = records;
    wanted.threads = 2;
    wanted.compression = codec::run_compression_of_word(word);
    return planner::make_plan(wanted);
  };
  for (const auto& [memory, records, has_coders] :
       {std::tuple{12 * MiB, 10'000'000, false}, {64 * MiB, 100'000'000, true}, {256 * MiB, 100'000'000, true}}) {
    const planner::RecordPlan automatic = plan_of("auto", memory, static_cast<std::uint64_t>(records)),
                              plain = plan_of("none", memory, static_cast<std::uint64_t>(records));
    EXPECT_EQ(automatic.packing.coders > 0, has_coders) << memory;
    EXPECT_LE(automatic.bytes_read + automatic.bytes_written, (plain.bytes_read + plain.bytes_written) * 105 / 100) << memory;
  }
}

TEST(CompressedRecordsOf, AutoCompressesOnASlowDriveAndMovesFewerBytes) {
  const records::RecordFormat format = shrinking(20'000);  // large records make large blocks in little memory
  SortSetup setup{.format = format, .inputs = {make_records(format, Keys::common_prefix, 1'000)}};
  setup.memory_bytes = 16 * MiB;
  setup.threads = 2;
  const OnSlowDrive plain = sort_slowly(setup);
  setup.compression = codec::run_compression_of_word("auto");
  const OnSlowDrive compressed = sort_slowly(setup);
  EXPECT_EQ(difference(compressed.output, plain.output, 20'000), "");
  ASSERT_TRUE(compressed.report.run_packing);
  EXPECT_FALSE(compressed.report.run_packing->last.is_none()) << compressed.report.run_packing->why;
  EXPECT_THAT(compressed.report.run_packing->why, ::testing::HasSubstr("drives move 0.0"));
  const auto moved = [](const OnSlowDrive& done) { return done.report.traffic.bytes_read + done.report.traffic.bytes_written; };
  EXPECT_LT(moved(compressed), moved(plain) * 4 / 5);
}

}  // namespace
}  // namespace ecosort::engine::fixed
