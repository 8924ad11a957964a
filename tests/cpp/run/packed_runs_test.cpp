// Runs of records whose blocks are packed: where they lie over any directories, what they take, what is given back, and damage.
#include <gmock/gmock.h>

#include <atomic>
#include <cstring>

#include "base/errors.h"
#include "base/random.h"
#include "cpp/io/test_support.h"
#include "doubles/memory_store.h"
#include "engine/bench.h"
#include "run/record_runs.h"

namespace ecosort::run {
namespace {

constexpr std::uint64_t KiB = 1024, MiB = 1024 * KiB;
constexpr std::uint32_t block_bytes = 32 * KiB, record_size = 100, records_per_block = 327;
constexpr std::uint64_t run_blocks = 41;
constexpr std::uint64_t run_records = (run_blocks - 1) * records_per_block + 5;  // the last block has few

planner::RecordPlan plan_of(std::uint64_t assumed_ratio) {
  planner::RecordPlan plan;
  plan.wanted.format = {record_size, {{0, 10}}};
  plan.run_block = {block_bytes, records_per_block};
  plan.formation.write_block_bytes = 2 * block_bytes;
  plan.forecast_bytes = 2 * 16 * 1024;
  plan.packing.wanted = codec::run_compression_of_word("lz4");
  plan.packing.coders = 1;
  plan.packing.coder_bytes = planner::block_coder_bytes(plan.packing.wanted.terms, block_bytes);
  plan.packing.index_bytes = 4 * KiB;
  plan.packing.assumed_ratio = assumed_ratio;
  return plan;
}

class PackedRecordRuns : public ::testing::TestWithParam<unsigned> {
 protected:
  explicit PackedRecordRuns(std::uint64_t assumed_ratio = 0) : plan(plan_of(assumed_ratio)) {}

  static io::DiskImage empty_directories() {
    io::DiskImage image;
    image.directories = {"/a", "/b", "/c"};
    return image;
  }
  [[nodiscard]] static std::vector<std::string> directories() {
    const std::vector<std::string> all{"/a", "/b", "/c"};
    return {all.begin(), all.begin() + GetParam()};
  }
  void run(Task<void> task) {
    TaskGroup group(bench.reactor.scope());
    group.spawn(std::move(task));
    bench.reactor.run(group, nothing);
  }

  static std::uint32_t records_of(std::uint64_t block) { return block + 1 < run_blocks ? records_per_block : 5; }
  // Every third block does not shrink.
  static std::string contents_of(std::uint64_t block) {
    std::string records(std::size_t{records_of(block)} * record_size, static_cast<char>('a' + block % 20));
    Random random(block);
    if (block % 3 == 1)
      for (char& byte : records) byte = static_cast<char>(random.next());
    return records;
  }

  std::size_t write_run(RecordRuns& store) { return write_blocks(store, store.create(run_records)); }

  // Puts and writes all blocks, two at a time.
  std::size_t write_blocks(RecordRuns& store, std::size_t number) {
    const StoredRun& stored = store.run(number);
    EXPECT_TRUE(stored.is_packed);
    const PackTerms terms{{codec::BlockCodec::lz4, 0}, true};
    for (std::uint64_t first = 0; first < run_blocks; first += 2) {
      const io::AlignedBuffer buffer(2 * block_bytes);
      std::size_t bytes = 0;
      for (std::uint64_t block = first; block < std::min(first + 2, run_blocks); ++block) {
        std::byte* const at = buffer.data() + bytes;
        const std::string records = contents_of(block);
        std::memcpy(at, records.data(), records.size());
        const BlockContents contents{.used_bytes = static_cast<std::uint32_t>(records.size())};
        std::size_t size = packer.pack(terms, at, contents, stored.seed + block, at);
        if (size == 0) {
          store.seal_records(stored, block, records_of(block), at);
          size = block_bytes;
        }
        store.append_packed(number, records.size(), size, codec::BlockCodec::lz4);
        EXPECT_EQ(store.is_packed(stored, block), size < block_bytes);
        bytes += size;
      }
      run(store.write_appended(number, first, buffer.data(), bytes));
    }
    store.complete_run(number, run_blocks);
    return number;
  }

  // Reads so many blocks as a merge does, and compares. `consumed`: blocks of the run are gone.
  void expect_blocks(RecordRuns& store, std::size_t number, std::uint64_t first, std::uint64_t count,
                     std::uint64_t consumed = 0) {
    const StoredRun& stored = store.run(number);
    const io::AlignedBuffer buffer(count * block_bytes);
    const std::uint64_t on_drive = store.stored_bytes(stored, first, count);
    run(store.read(number, first, buffer.data() + buffer.size() - on_drive, on_drive));
    store.open_run_blocks(stored, run_records - consumed * records_per_block, first, count, buffer.data());
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::string expected = contents_of(consumed + first + i);
      ASSERT_EQ(std::memcmp(buffer.data() + i * block_bytes, expected.data(), expected.size()), 0) << first + i;
    }
  }

  planner::RecordPlan plan;
  io::MemoryStore disk{empty_directories()};
  std::unique_ptr<io::Queue> queue = disk.make_queue(40);
  engine::Progress progress;
  engine::PhaseLog log{""};
  const std::atomic<int> nothing{0};
  engine::Bench bench{{disk, *queue, progress, log, nothing}, {MiB, 0, 16, 16}};
  RunPacker packer{plan.packing, {block_bytes, record_size}, bench.memory};
};

TEST_P(PackedRecordRuns, ComeBackBlockByBlockInAnyPieces) {
  RecordRuns store(disk, bench.reactor, plan, directories(), &packer);
  (void)write_run(store);
  const std::size_t number = write_run(store);
  for (const auto& [first, count] : {std::pair<std::uint64_t, std::uint64_t>{0, run_blocks}, {1, 1}, {3, 9}, {40, 1}})
    expect_blocks(store, number, first, count);
}

// A job that is resumed in its merge finds the blocks that are left by the places that the run keeps of all.
TEST_P(PackedRecordRuns, WhatIsLeftOfARunOfAJobIsFound) {
  constexpr std::uint64_t identity = 3;
  const KeptRuns kept{Direction::forward, 5, 8192};
  const auto open = [&] {
    return disk.exists("/a/run") ? disk.open_named("/a/run", io::Role::run, io::Caching::direct_if_possible)
                                 : disk.create_named("/a/run", io::Role::run, io::Caching::direct_if_possible);
  };
  std::uint64_t stored_bytes = 0;
  {
    RecordRuns store(disk, bench.reactor, plan, kept, &packer);
    const std::size_t number = store.adopt(open(), identity, run_records, 0);
    store.pack_where_possible(number);
    (void)write_blocks(store, number);
    stored_bytes = store.packed_bytes(number);
    run(store.write_description(number, {.head_bytes = kept.head_bytes,
                                         .block_bytes = block_bytes,
                                         .record_size = record_size,
                                         .job = kept.job,
                                         .run = identity,
                                         .bytes = run_records * record_size}));
  }
  for (const std::uint64_t consumed : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{7}, run_blocks - 1}) {
    RecordRuns later(disk, bench.reactor, plan, kept, &packer);
    const std::size_t number = later.adopt(open(), identity, run_records - consumed * records_per_block, consumed);
    run(later.find_packed(number, consumed, stored_bytes));
    expect_blocks(later, number, 0, run_blocks - consumed, consumed);
  }
}

TEST_P(PackedRecordRuns, TakeLessThanTheyWereReservedAndGiveAllOfItBack) {
  RecordRuns store(disk, bench.reactor, plan, directories(), &packer);
  const std::size_t number = write_run(store);
  const std::uint64_t taken = store.stored_bytes(store.run(number), 0, run_blocks);
  EXPECT_LT(taken, run_blocks * block_bytes * 2 / 3);
  EXPECT_EQ(store.peak_bytes(), run_blocks * block_bytes) << "the worst case was reserved";
  EXPECT_EQ(store.allocated_bytes(), taken);
  EXPECT_EQ(disk.allocated_bytes(), taken);
  EXPECT_EQ(store.waiting_bytes(number, 20), store.stored_bytes(store.run(number), 0, 20));
  run(store.release_until(number, 20));
  EXPECT_EQ(disk.allocated_bytes(), store.stored_bytes(store.run(number), 20, run_blocks - 20));
  expect_blocks(store, number, 20, 21);
  run(store.release_until(number, run_blocks));
  EXPECT_EQ(disk.allocated_bytes(), 0U);
  EXPECT_EQ(store.allocated_bytes(), 0U);
}

TEST_P(PackedRecordRuns, DamagedMisplacedAndForeignBlocksAreRefused) {
  RecordRuns store(disk, bench.reactor, plan, directories(), &packer);
  const std::size_t number = write_run(store), neighbour = write_run(store);
  const StoredRun& stored = store.run(number);
  for (const std::uint64_t block : {0U, 1U, 40U}) {
    const io::AlignedBuffer good(block_bytes);
    const std::size_t size = store.stored_bytes(stored, block);
    std::byte* const at = good.data() + block_bytes - size;
    run(store.read(number, block, at, size));
    const auto open = [&](const StoredRun& of, std::uint64_t as) {
      io::AlignedBuffer copy(block_bytes);
      std::memcpy(copy.data(), good.data(), block_bytes);
      store.open_run_blocks(of, run_records, as, 1, copy.data());
    };
    EXPECT_NO_THROW(open(stored, block));
    EXPECT_THROW(open(store.run(neighbour), block), DamagedRun) << "another run";
    if (block == 0) {
      EXPECT_THROW(open(stored, 3), DamagedRun) << "another place of the same size";
    }
    for (const std::size_t byte : {std::size_t{0}, std::size_t{20}, size / 2, size - 1}) {
      at[byte] ^= std::byte{4};
      EXPECT_THROW(open(stored, block), DamagedRun) << "block " << block << " byte " << byte;
      at[byte] ^= std::byte{4};
    }
  }
}

// The checksum is right, and a block has too few records for its place: they would be taken for others.
TEST_P(PackedRecordRuns, ABlockWithTooFewRecordsIsRefused) {
  RecordRuns store(disk, bench.reactor, plan, directories(), &packer);
  const std::size_t number = store.create(run_records);
  const StoredRun& stored = store.run(number);
  const io::AlignedBuffer buffer(block_bytes);
  std::memset(buffer.data(), 'x', block_bytes);
  const std::size_t size = packer.pack({{codec::BlockCodec::lz4, 0}, true}, buffer.data(), {.used_bytes = 100 * record_size},
                                       stored.seed, buffer.data());
  ASSERT_GT(size, 0U);
  store.append_packed(number, 100 * record_size, size, codec::BlockCodec::lz4);
  std::memmove(buffer.data() + block_bytes - size, buffer.data(), size);
  EXPECT_THROW(store.open_run_blocks(stored, run_records, 0, 1, buffer.data()), DamagedRun);
}

TEST_P(PackedRecordRuns, BeyondTheRoomForPlacesRunsAreStoredAsTheyAre) {
  RecordRuns store(disk, bench.reactor, plan, directories(), &packer);
  std::size_t packed = 0;
  for (int i = 0; i < 40; ++i) packed += store.run(store.create(run_records)).is_packed ? 1 : 0;
  EXPECT_EQ(packed, plan.packing.index_bytes / 4 / run_blocks);
  EXPECT_LE(store.peak_index_bytes(), plan.packing.index_bytes);
}

class PackedRecordRunsThatAssume : public PackedRecordRuns {
 protected:
  PackedRecordRunsThatAssume() : PackedRecordRuns(10'000) {}
};

TEST_P(PackedRecordRunsThatAssume, ReserveLessAndGrowWhereThatWasTooLittle) {
  RecordRuns store(disk, bench.reactor, plan, directories(), &packer);
  (void)store.create(run_records);
  const std::uint64_t reserved = plan.packing.space_of(run_blocks * block_bytes);
  EXPECT_EQ(disk.allocated_bytes(), reserved);
  EXPECT_NEAR(static_cast<double>(reserved), run_blocks * block_bytes / 10.0, 4096);
  const std::size_t number = write_run(store);
  expect_blocks(store, number, 0, run_blocks);
  EXPECT_EQ(disk.allocated_bytes(), reserved + store.stored_bytes(store.run(number), 0, run_blocks));
}

INSTANTIATE_TEST_SUITE_P(Directories, PackedRecordRuns, ::testing::Values(1U, 2U, 3U));
INSTANTIATE_TEST_SUITE_P(Directories, PackedRecordRunsThatAssume, ::testing::Values(1U, 3U));

}  // namespace
}  // namespace ecosort::run
