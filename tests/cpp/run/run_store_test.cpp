// Tests where runs and the output go: the run store and write behind, on a disk in memory.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/errors.h"
#include "cpp/io/test_support.h"
#include "doubles/faulty_queue.h"
#include "doubles/memory_store.h"
#include "engine/fixed/write_behind.h"
#include "io/counting_queue.h"
#include "run/record_runs.h"

namespace ecosort::run {

namespace {

constexpr std::uint64_t KiB = 1024, MiB = 1024 * KiB;

// Every directory has its own idea of how much is free.
class Weighted : public io::MemoryStore {
 public:
  using MemoryStore::MemoryStore;
  [[nodiscard]] std::uint64_t free_bytes(const std::string& directory) override { return free.at(directory); }
  std::map<std::string, std::uint64_t> free{{"/a", 100 * MiB}, {"/b", 300 * MiB}, {"/c", MiB}};
};

io::DiskImage empty_directories() {
  io::DiskImage image;
  image.directories = {"/a", "/b", "/c"};
  return image;
}

planner::RecordPlan small_plan() {
  planner::RecordPlan plan;
  plan.wanted.format = {100, {{0, 10}}};
  plan.run_block = {4096, 40};
  plan.formation.write_block_bytes = 8 * KiB;
  plan.forecast_stride = 1;
  plan.forecast_bytes = 2 * 16 * 1024;  // 1024 entries
  return plan;
}

struct TestBench {
  explicit TestBench(const std::string& faults_text = {}) : faults(io::parse_faults(faults_text)) {}

  Weighted disk{empty_directories()};
  std::unique_ptr<io::Queue> below = disk.make_queue(40);
  io::FaultPlan faults;
  io::FaultyQueue faulty{*below, faults};
  std::vector<io::TraceEvent> requests;
  io::CountingQueue queue{faulty, 40, [this](const io::TraceEvent& event) { requests.push_back(event); }};
  engine::Progress progress;
  engine::PhaseLog log{""};
  const std::atomic<int> nothing{0};
  engine::Bench bench{{disk, queue, progress, log, nothing}, {MiB, 0, 16, 16}};
  io::Reactor& reactor = bench.reactor;
  planner::RecordPlan plan = small_plan();

  void run(Task<void> task) {
    TaskGroup group(reactor.scope());
    group.spawn(std::move(task));
    reactor.run(group, nothing);
  }
  [[nodiscard]] RecordRuns make(std::vector<std::string> directories) { return {disk, reactor, plan, std::move(directories)}; }
};

// RunBlocks [0, n) of a run, each with other records, sealed.
io::AlignedBuffer sealed(const RecordRuns& store, std::size_t run, std::uint64_t run_blocks) {
  io::AlignedBuffer buffer(io::pattern(run_blocks * 4096, 3));
  for (std::uint64_t g = 0; g < run_blocks; ++g) store.seal_records(store.run(run), g, 40, buffer.data() + g * 4096);
  return buffer;
}

std::uint64_t bytes_in(const io::MemoryStore& disk, const StoredRun& run, std::size_t stripe) {
  return const_cast<io::MemoryStore&>(disk).state(*run.stripes()[stripe]).allocated_bytes;
}

}  // namespace

TEST(RunStore, GivesBackWhatWasWrittenOverAnyDirectories) {
  for (const std::vector<std::string>& directories :
       {std::vector<std::string>{"/a"}, {"/a", "/b"}, {"/a", "/b", "/c"}, {"/b", "/b"}}) {
    TestBench bench;
    RecordRuns store = bench.make(directories);
    (void)store.create(80);
    const std::size_t run = store.create(40 * 75);
    const io::AlignedBuffer data = sealed(store, run, 75);
    bench.run(store.write(run, 0, data.data(), data.size()));
    for (const auto& [first, count] : {std::pair<std::uint64_t, std::uint64_t>{0, 75}, {1, 1}, {3, 9}, {74, 1}}) {
      const io::AlignedBuffer back(count * 4096);
      bench.run(store.read(run, first, back.data(), back.size()));
      EXPECT_EQ(back.text(back.size()), data.text(data.size()).substr(first * 4096, count * 4096));
      for (std::uint64_t g = 0; g < count; ++g) EXPECT_NO_THROW(store.check(store.run(run), first + g, back.data() + g * 4096));
    }
  }
}

TEST(RunStore, FullerDirectoriesGetLess) {
  TestBench bench;
  RecordRuns store = bench.make({"/a", "/b", "/c"});
  const std::size_t run = store.create(40 * 2 * 640);  // 640 stripe units
  const double a = static_cast<double>(bytes_in(bench.disk, store.run(run), 0));
  const double b = static_cast<double>(bytes_in(bench.disk, store.run(run), 1));
  EXPECT_NEAR(b / a, 3.0, 0.2);
  EXPECT_LT(bytes_in(bench.disk, store.run(run), 2), bytes_in(bench.disk, store.run(run), 0) / 10);
  EXPECT_EQ(bench.disk.allocated_bytes(), 1280U * 4096) << "space is reserved at once, and no more than the run has";
}

TEST(RunStore, ADamagedMisplacedOrForeignRunBlockIsRefused) {
  TestBench bench;
  RecordRuns store = bench.make({"/a"}), other_job = bench.make({"/a"});
  const std::size_t run = store.create(400), neighbour = store.create(400);
  (void)other_job.create(400);
  const io::AlignedBuffer data = sealed(store, run, 2);
  EXPECT_NO_THROW(store.check(store.run(run), 0, data.data()));
  EXPECT_THROW(store.check(store.run(run), 1, data.data()), IoError) << "another place in the run";
  EXPECT_THROW(store.check(store.run(neighbour), 0, data.data()), IoError) << "another run";
  EXPECT_THROW(other_job.check(other_job.run(0), 0, data.data()), IoError) << "another job";
  for (const std::size_t at : {0UL, 1'999UL, 4'050UL, 4'095UL}) {
    data.data()[at] ^= std::byte{4};
    EXPECT_THROW(store.check(store.run(run), 0, data.data()), IoError) << "byte " << at;
    data.data()[at] ^= std::byte{4};
  }
  const std::string line = io::line_of<IoError>([&] { store.check(store.run(run), 1, data.data()); });
  EXPECT_THAT(line, ::testing::AllOf(::testing::HasSubstr("'/a'"), ::testing::HasSubstr("byte 4096")));
}

TEST(RunStore, ConsumedSpaceIsGivenBackInPiecesAndThenAllOfIt) {
  TestBench bench;
  RecordRuns store = bench.make({"/a", "/b"});
  const std::size_t run = store.create(40 * 64);
  const io::AlignedBuffer data = sealed(store, run, 64);
  bench.run(store.write(run, 0, data.data(), data.size()));
  EXPECT_EQ(store.waiting_bytes(run, 20), 20 * 4 * KiB);
  bench.run(store.release_until(run, 20));
  EXPECT_EQ(store.waiting_bytes(run, 20), 0U) << "that is done";
  EXPECT_EQ(store.waiting_bytes(run, 23), 3 * 4 * KiB);
  EXPECT_EQ(bench.disk.allocated_bytes(), 44 * 4 * KiB);
  EXPECT_EQ(store.allocated_bytes(), 44 * 4 * KiB);
  const io::AlignedBuffer rest(44 * 4096);
  bench.run(store.read(run, 20, rest.data(), rest.size()));
  for (std::uint64_t g = 0; g < 44; ++g) EXPECT_NO_THROW(store.check(store.run(run), 20 + g, rest.data() + g * 4096));
  bench.run(store.release_until(run, 64));
  EXPECT_EQ(bench.disk.allocated_bytes(), 0U);
  EXPECT_EQ(bench.disk.open_files(), 0U);
  EXPECT_EQ(store.peak_bytes(), 64 * 4 * KiB);
}

// Each costs an entry in the journal of its file system: one for each directory, not one for each stripe unit.
TEST(RunStore, AReleaseIsOneHoleInEachDirectory) {
  TestBench bench;
  RecordRuns store = bench.make({"/a", "/b"});
  const std::size_t run = store.create(40 * 400);
  const io::AlignedBuffer data = sealed(store, run, 400);
  bench.run(store.write(run, 0, data.data(), data.size()));
  for (const auto& [until, requests] : {std::pair<std::uint64_t, std::uint64_t>{200, 2}, {321, 4}, {322, 5}, {400, 5}}) {
    bench.run(store.release_until(run, until));
    EXPECT_EQ(bench.queue.counts().of(io::Role::run, io::Operation::release).requests, requests) << until;
    EXPECT_EQ(bench.disk.allocated_bytes(), (400 - until) * 4096) << until;
    if (until == 400) break;
    const io::AlignedBuffer rest((400 - until) * 4096);
    bench.run(store.read(run, until, rest.data(), rest.size()));
    for (std::uint64_t g = until; g < 400; ++g) EXPECT_NO_THROW(store.check(store.run(run), g, rest.data() + (g - until) * 4096));
  }
  // Each run block is freed by the hole that reaches its end where the file system's blocks are larger.
  for (const io::TraceEvent& request : bench.requests) {
    if (request.operation != io::Operation::release) continue;
    EXPECT_EQ(request.offset % (64 * KiB), 0U);
  }
}

// Parts of a merge give back what they have consumed of a run, each in its own order.
TEST(RunStore, APartGivesBackNothingOfItsNeighbours) {
  TestBench bench;
  RecordRuns store = bench.make({"/a"});
  const std::size_t run = store.create(40 * 64);
  const io::AlignedBuffer data = sealed(store, run, 64);
  bench.run(store.write(run, 0, data.data(), data.size()));
  const auto expect_left = [&](std::vector<std::uint64_t> blocks, std::uint64_t count) {
    EXPECT_EQ(bench.disk.allocated_bytes(), count * 4096);
    EXPECT_EQ(store.allocated_bytes(), count * 4096);
    for (const std::uint64_t block : blocks) {
      const io::AlignedBuffer back(4096);
      bench.run(store.read(run, block, back.data(), back.size()));
      EXPECT_NO_THROW(store.check(store.run(run), block, back.data())) << block;
    }
  };
  bench.run(store.release(run, 20, 24));
  expect_left({19, 24}, 60);
  bench.run(store.release(run, 0, 3));
  expect_left({3, 19, 24}, 57);
  bench.run(store.release(run, 3, 20));
  expect_left({24, 63}, 40);
  store.close(run);
  store.close(run);
  EXPECT_EQ(store.allocated_bytes(), 0U) << "what was not given back goes with the file, once";
  EXPECT_EQ(bench.disk.allocated_bytes(), 0U);
  EXPECT_EQ(bench.disk.open_files(), 0U);
}

// Threads seal blocks of runs while the coordinator makes others.
TEST(RunStore, ARunStaysWhereItIs) {
  TestBench bench;
  RecordRuns store = bench.make({"/a"});
  const StoredRun* const first = &store.run(store.create(40));
  for (int i = 0; i < 200; ++i) (void)store.create(40);
  EXPECT_EQ(first, &store.run(0));
}

TEST(RunStore, AStreamEndsWhereItsForecastTableCannotBeThinnedOut) {
  TestBench bench;
  bench.plan.wanted.size_unknown = true;
  bench.plan.most_forecast_stride = 4;
  RecordRuns store = bench.make({"/a"});
  std::size_t runs = 0;
  EXPECT_THROW(
      {
        for (; runs < 100; ++runs) (void)store.create(40 * 500);
      },
      UsageError);
  EXPECT_EQ(runs, 8U) << "of 500 run blocks each, 1024 entries for every fourth";
  EXPECT_EQ(store.forecast().stride(), 4U);
}

TEST(RunStore, TheForecastTableThinsOutInsteadOfGrowing) {
  TestBench bench;
  bench.plan.wanted.size_unknown = true;
  bench.plan.most_forecast_stride = 8;
  RecordRuns store = bench.make({"/a"});
  const records::Encoder encoder(bench.plan.wanted.format);
  const auto prefix = [](std::uint64_t run, std::uint64_t run_block) { return run * 10'000 + run_block; };
  std::byte record[100] = {};
  for (std::uint64_t run = 0; run < 9; ++run) {
    const std::size_t number = store.create(40 * 500);
    for (std::uint64_t g = 0; g < 500; ++g) {
      const std::uint64_t big_endian = __builtin_bswap64(prefix(run, g));
      std::memcpy(record, &big_endian, sizeof big_endian);
      store.forecast().set(number, g, encoder, record);
    }
  }
  EXPECT_EQ(store.forecast().stride(), 8U) << "4500 run blocks, 1024 entries";
  std::size_t entries = 0;
  for (std::uint64_t run = 0; run < 9; ++run) {
    entries += store.forecast().keys(run).size();
    for (std::uint64_t g = 0; g < 500; g += 8) EXPECT_EQ(store.forecast().at(run, g).prefix, prefix(run, g));
  }
  EXPECT_LE(entries, 1024U);
  // Once the merge is planned, its blocks are multiples of the stride: it stays, whatever is merged.
  EXPECT_EQ(store.forecast().fix_stride(), 8U);
  const std::size_t merged = store.create(40 * 9'000);
  EXPECT_EQ(store.forecast().stride(), 8U);
  EXPECT_EQ(store.forecast().keys(merged).size(), 9'000U / 8);
}

TEST(RunStore, TheForecastOfAKnownSizeKeepsItsStride) {
  TestBench bench;
  RecordRuns store = bench.make({"/a"});
  const std::size_t number = store.create(40 * 5'000);
  EXPECT_EQ(store.forecast().stride(), 1U);
  EXPECT_EQ(store.forecast().keys(number).size(), 5'000U);
}

namespace {

// Writes a text through write behind, in batches, to /a/out. Throws what the writing throws.
void write_in_batches(TestBench& bench, const std::string& text, std::size_t batch) {
  const io::FilePtr file = bench.disk.create_named("/a/out", io::Role::output, io::Caching::direct_if_possible);
  planner::MergeBuffers buffers;
  buffers.output_block_bytes = 8'192 + page_bytes;
  buffers.output_blocks = 2;
  RecordRuns runs = bench.make({"/a"});
  engine::fixed::WriteBehind output(bench.bench, *file, buffers, {.total_bytes = text.size(), .reserve_bytes = 16 * KiB}, &runs);
  EXPECT_GE(output.capacity_bytes(), batch);
  const auto write = [&]() -> Task<void> {
    try {
      for (std::size_t at = 0; at < text.size(); at += batch) {
        const std::size_t size = std::min(batch, text.size() - at);
        std::byte* const place = co_await output.take(at);
        text.copy(reinterpret_cast<char*>(place), size, at);
        co_await output.put(place, size);
      }
      co_await output.finish();
    } catch (...) {
      bench.reactor.scope().fail(std::current_exception());
    }
    co_await output.settle();
  };
  bench.run(write());
  EXPECT_EQ(output.written_bytes(), text.size());
}

}  // namespace

TEST(WriteBehind, BatchesOfAnySizeBecomeOneFile) {
  const std::string text = io::pattern(50'007, 9);
  for (const std::size_t batch : {1UL, 100UL, 511UL, 512UL, 513UL, 4'000UL, 4'096UL, 4'097UL, 8'192UL}) {
    TestBench bench;
    write_in_batches(bench, text, batch);
    EXPECT_EQ(bench.disk.contents("/a/out"), text) << batch;
    EXPECT_LE(bench.disk.allocated_bytes(), 64 * KiB) << "no more is reserved than the output needs";
  }
}

// The space of consumed runs may still be on its way back, on a full drive as under a quota.
TEST(WriteBehind, AStepThatFindsNoRoomIsTriedOnceMore) {
  const std::string text = io::pattern(50'007, 9);
  for (const int number : {ENOSPC, EDQUOT}) {
    const std::string fault = fmt::format("output:reserve:2:{}", ::strerrorname_np(number));
    TestBench bench(fault);
    write_in_batches(bench, text, 4'000);
    EXPECT_EQ(bench.disk.contents("/a/out"), text) << fault;
    TestBench full(fault + ":persistent");
    EXPECT_THROW(write_in_batches(full, text, 4'000), IoError) << fault;
    EXPECT_EQ(full.faults.seen(io::Role::output, io::FaultPoint::reserve), 3U) << fault;
  }
  TestBench broken("output:reserve:2:EIO");
  EXPECT_THROW(write_in_batches(broken, text, 4'000), IoError);
  EXPECT_EQ(broken.faults.seen(io::Role::output, io::FaultPoint::reserve), 2U) << "another error has nothing to wait for";
}

}  // namespace ecosort::run
