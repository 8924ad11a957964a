// Whole sorts, against the oracle: what the keys look like x record size x key, over threads, backends, memory and inputs. Each
// pair of these is there; ECOSORT_SOAK=1 has every combination.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>

#include "base/errors.h"
#include "cpp/engine/fixed/sort_harness.h"
#include "cpp/support/test_environment.h"

namespace ecosort::engine::fixed {

namespace {

using planner::Shape;

constexpr std::uint64_t MiB = 1U << 20U;
constexpr std::array thread_counts{0U, 1U, 2U, 4U};

// Enough records for many runs in the least memory, whatever their size.
std::uint64_t external_count(std::uint32_t record_size) { return 4 * MiB / (record_size + 16); }

std::vector<records::RecordFormat> formats_of(std::uint32_t size) {
  std::vector<std::vector<RecordKey>> keys{{{0, std::min(4U, size)}},                           // short
                                           {{size / 3, std::min(9U, size - size / 3), true}}};  // descending
  if (size > 1) keys.push_back({{size - 2, 2, true}, {0, std::min(5U, size - 2)}});             // two fields
  if (size >= 10) keys.push_back({{0, 10}});
  if (size >= 13) keys.push_back({{size >= 20 ? 3U : 0U, 13}});  // one byte more than an index entry holds
  if (size >= 100) keys.push_back({{1, 40}, {50, 30, true}});
  std::vector<records::RecordFormat> formats;
  for (const std::vector<RecordKey>& fields : keys) formats.push_back({size, fields});
  return formats;
}

// Returns one of them, another for each kind of keys and each size; in a soak it returns all.
std::vector<records::RecordFormat> some_formats_of(std::uint32_t size, Keys keys) {
  const std::vector<records::RecordFormat> formats = formats_of(size);
  if (is_soak()) return formats;
  return {formats[(static_cast<std::size_t>(keys) + size) % formats.size()]};
}

records::RecordFormat sort_benchmark() { return {100, {{0, 10}}}; }

SortSetup setup_of(const records::RecordFormat& format, const std::string& records) {
  return {.format = format, .inputs = {records}};
}

std::string all_of(const SortSetup& setup) {
  std::string all;
  for (const std::string& input : setup.inputs) all += input;
  return all;
}

std::uint64_t least_memory(const SortSetup& setup) {
  const std::uint64_t records = all_of(setup).size() / setup.format.record_size;
  return planner::minimum_memory_bytes({.format = setup.format, .input_records = records, .threads = 4});
}

// Returns what comes of the records; many sorts of the same ones follow each other.
const std::string& expected_of(const SortSetup& setup, const std::string& all) {
  static struct {
    records::RecordFormat format;
    bool unique = false;
    std::string all, sorted;
  } last;
  const bool is_same = last.format.record_size == setup.format.record_size && last.format.keys == setup.format.keys &&
                       last.unique == setup.unique && last.all == all;
  if (!is_same) last = {setup.format, setup.unique, all, sorted_copy(setup.format, all, setup.unique)};
  return last.sorted;
}

// Sorts and compares every byte with the oracle; what the report says must be true, too.
SortResult expect_sorted(const SortSetup& setup, Disk disk = Disk::memory) {
  SCOPED_TRACE(describe(setup) + ", " + to_string(disk));
  const std::string all = all_of(setup);
  SortResult result;
  try {
    result = run_sort(setup, disk);
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
    return result;
  }
  const std::string& expected = expected_of(setup, all);
  EXPECT_EQ(difference(result.output, expected, setup.format.record_size), "");
  EXPECT_EQ(result.report.records, all.size() / setup.format.record_size);
  EXPECT_EQ(result.report.dropped, (all.size() - expected.size()) / setup.format.record_size);
  EXPECT_LE(result.report.peak_memory_bytes, setup.memory_bytes);
  return result;
}

}  // namespace

class SortMatrix : public ::testing::TestWithParam<std::tuple<Keys, std::uint32_t>> {};

std::string name_of(const ::testing::TestParamInfo<std::tuple<Keys, std::uint32_t>>& parameter) {
  return std::string(to_string(std::get<0>(parameter.param))) + "_" + std::to_string(std::get<1>(parameter.param));
}

INSTANTIATE_TEST_SUITE_P(Small, SortMatrix, ::testing::Combine(::testing::ValuesIn(all_keys), ::testing::Values(1U, 7U, 16U)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Large, SortMatrix,
                         ::testing::Combine(::testing::ValuesIn(all_keys), ::testing::Values(100U, 101U, 4097U)), name_of);

TEST_P(SortMatrix, EveryKeyComesOutInOrderAndStableInTheExternalPath) {
  const auto [keys, size] = GetParam();
  const std::vector<Disk> disks = usable_disks();
  unsigned variant = static_cast<unsigned>(keys) + size;
  for (const records::RecordFormat& format : some_formats_of(size, keys)) {
    SortSetup setup = setup_of(format, make_records(format, keys, external_count(size)));
    setup.memory_bytes = least_memory(setup);
    setup.threads = thread_counts[variant % thread_counts.size()];
    const SortResult result = expect_sorted(setup, disks[variant / 2 % disks.size()]);
    EXPECT_TRUE(result.report.plan.shape == Shape::two_pass || result.report.plan.shape == Shape::multi_pass);
    EXPECT_GE(result.report.runs, 4U);
    ++variant;
  }
}

TEST_P(SortMatrix, EveryKeyComesOutInOrderAndStableWhereAllRunsStayInMemory) {
  const auto [keys, size] = GetParam();
  if (size < 16 && static_cast<unsigned>(keys) % 6 != size / 2 && !is_soak()) return;  // they take millions of records
  const std::vector<Disk> disks = usable_disks();
  unsigned variant = static_cast<unsigned>(keys) + size;
  for (const records::RecordFormat& format : some_formats_of(size, keys)) {
    SortSetup setup = setup_of(format, make_records(format, keys, 7 * MiB / 2 / size));
    setup.memory_bytes = 128 * MiB;
    setup.threads = thread_counts[variant % thread_counts.size()];
    setup.unique = variant % 3 == 0;
    const SortResult result = expect_sorted(setup, disks[variant / 2 % disks.size()]);
    EXPECT_EQ(result.report.plan.shape, Shape::one_pass);
    EXPECT_GE(result.report.runs, 3U);
    ++variant;
  }
}

class SortOnDisks : public ::testing::TestWithParam<Disk> {
 protected:
  // Every other of a test's combinations; the next disk has those between.
  [[nodiscard]] bool has_next() { return ++turn_ % 2 == 0 || is_soak(); }

 private:
  unsigned turn_ = static_cast<unsigned>(GetParam());
};

INSTANTIATE_TEST_SUITE_P(All, SortOnDisks, ::testing::ValuesIn(usable_disks()),
                         [](const auto& parameter) { return std::string(to_string(parameter.param)); });

TEST_P(SortOnDisks, TheBytesAreTheSameForAnyMemoryAndThreads) {
  const records::RecordFormat format = sort_benchmark();
  const std::string records = make_records(format, Keys::common_prefix, 30'000);
  auto turn = static_cast<unsigned>(GetParam());
  for (const std::uint64_t memory : {2 * MiB, 3 * MiB, 5 * MiB, 32 * MiB}) {
    for (const unsigned threads : thread_counts) {
      if (++turn % 3 != 0 && !is_soak()) continue;  // the next disks have the other combinations
      SortSetup setup = setup_of(format, records);
      setup.memory_bytes = memory;
      setup.threads = threads;
      expect_sorted(setup, GetParam());
    }
    ++turn;  // or a disk would have the same threads with any memory
  }
}

TEST_P(SortOnDisks, SeveralPassesAreMadeWhereTheMemoryIsTooLittleForTwo) {
  const records::RecordFormat format{10'000, {{9'000, 2}, {0, 20}}};  // large run blocks: only a few runs can be merged at a time
  SortSetup setup = setup_of(format, make_records(format, Keys::uniform, 1'200));
  setup.memory_bytes = least_memory(setup);
  setup.threads = 2;
  const SortResult result = expect_sorted(setup, GetParam());
  EXPECT_EQ(result.report.plan.shape, Shape::multi_pass);
  EXPECT_GE(result.report.plan.merge.passes, 2U);
  EXPECT_GT(result.report.plan.merge.steps.size(), 1U);
}

TEST_P(SortOnDisks, AnInputThatFitsTheMemoryIsReadAndWrittenOnce) {
  const records::RecordFormat format = sort_benchmark();
  SortSetup setup = setup_of(format, make_records(format, Keys::uniform, 30'000));
  setup.memory_bytes = 16 * MiB;
  setup.threads = 2;
  const SortResult result = expect_sorted(setup, GetParam());
  EXPECT_EQ(result.report.plan.shape, Shape::one_pass);
  EXPECT_EQ(result.report.peak_temp_bytes, 0U);
  EXPECT_EQ(result.report.traffic.bytes_read, setup.inputs[0].size());
}

TEST_P(SortOnDisks, RunsAreStripedOverSeveralDirectories) {
  const records::RecordFormat format = sort_benchmark();
  for (const unsigned directories : {2U, 3U, 5U}) {
    if (!has_next()) continue;
    SortSetup setup = setup_of(format, make_records(format, Keys::uniform, 40'000));
    setup.directories = directories;
    setup.threads = 1;
    expect_sorted(setup, GetParam());
  }
}

TEST_P(SortOnDisks, UniqueKeepsTheFirstRecordOfEqualKeys) {
  for (const Keys keys : {Keys::two_values, Keys::all_equal, Keys::common_prefix, Keys::highest, Keys::uniform}) {
    for (const std::uint64_t memory : {2 * MiB, 16 * MiB}) {
      if (!has_next()) continue;
      const records::RecordFormat format{100, {{5, 16}}};
      SortSetup setup = setup_of(format, make_records(format, keys, 30'000));
      setup.unique = true;
      setup.memory_bytes = memory;
      setup.threads = keys == Keys::highest ? 0 : 2;
      expect_sorted(setup, GetParam());
    }
    (void)has_next();  // or a disk would have one memory with all of them
  }
}

TEST_P(SortOnDisks, SeveralInputFilesAreOneInput) {
  const records::RecordFormat format{101, {{0, 6}}};
  const std::string records = make_records(format, Keys::common_prefix, 36'000);
  for (const std::uint64_t memory : {2 * MiB, 4 * MiB, 32 * MiB}) {
    for (const io::Caching caching : {io::Caching::direct_if_possible, io::Caching::buffered}) {
      if (!has_next()) continue;
      SortSetup setup{.format = format, .inputs = cut(records, 101, {0, 1, 2, 41, 500, 500, 5'000, 20'011, 36'000})};
      setup.memory_bytes = memory;
      setup.caching = caching;
      setup.threads = 1;
      expect_sorted(setup, GetParam());
    }
    (void)has_next();
  }
}

TEST_P(SortOnDisks, SmallAndOddCountsSort) {
  const records::RecordFormat format{7, {{1, 3}}};
  for (const std::uint64_t count : {0U, 1U, 2U, 3U, 5U, 8U, 585U, 586U, 4096U, 4681U, 4682U}) {
    SortSetup setup = setup_of(format, make_records(format, Keys::uniform, count));
    setup.threads = 2;
    expect_sorted(setup, GetParam());
  }
}

TEST(SortOfLargeRecords, WorksDownToTheMinimumOfMemory) {
  for (const std::uint32_t size : {50'000U, 300'000U, 1'000'000U, records::max_record_size}) {
    const records::RecordFormat format{size, {{size - 20, 14}}};
    SortSetup setup = setup_of(format, make_records(format, Keys::uniform, 40));
    setup.memory_bytes = least_memory(setup);
    setup.threads = 1;
    expect_sorted(setup);
  }
}

TEST_P(SortOnDisks, OneSortLeavesNothingButTheOutput) {
  const records::RecordFormat format = sort_benchmark();
  const SortSetup setup = setup_of(format, make_records(format, Keys::uniform, 30'000));
  const std::unique_ptr<SortPlace> place = make_place(setup, GetParam());
  (void)run_sort(setup, *place, place->storage(), place->queue());
  EXPECT_THAT(place->storage().list(place->root()), ::testing::ElementsAre("input-0", "output", "runs-0"));
  EXPECT_THAT(place->storage().list(place->root() + "/runs-0"), ::testing::IsEmpty());
  EXPECT_EQ(place->contents(place->root() + "/input-0"), setup.inputs[0]);
}

}  // namespace ecosort::engine::fixed
