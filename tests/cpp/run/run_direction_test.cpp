// Runs that begin at the end of their file, and outputs that are continued: what sorting in place needs of the engine.
#include <gmock/gmock.h>

#include <atomic>

#include "base/errors.h"
#include "cpp/engine/fixed/sort_harness.h"
#include "cpp/io/test_support.h"
#include "doubles/memory_store.h"
#include "engine/fixed/prefetch.h"
#include "engine/fixed/write_behind.h"
#include "run/record_runs.h"

namespace ecosort::run {

namespace {

constexpr std::uint32_t run_block_bytes = 4096, run_block_records = 40;
const records::RecordFormat format{100, {{0, 10}}};

constexpr std::uint64_t head_bytes = 8192;

planner::RecordPlan small_plan(std::uint32_t stride) {
  planner::RecordPlan plan;
  plan.wanted.format = format;
  plan.run_block = {run_block_bytes, run_block_records};
  plan.formation.write_block_bytes = 2 * run_block_bytes;
  plan.forecast_stride = stride;
  plan.forecast_bytes = std::uint64_t{1} << 20U;
  return plan;
}

struct TestBench {
  explicit TestBench(const std::string& output = "") : disk(io::make_image({{"/job/run", ""}, {"/job/out", output}})) {}

  io::MemoryStore disk;
  std::unique_ptr<io::Queue> queue = disk.make_queue(40);
  engine::Progress progress;
  engine::PhaseLog log{""};
  const std::atomic<int> nothing{0};
  engine::Bench bench{{disk, *queue, progress, log, nothing}, {1U << 20U, 0, 16, 16}};
  io::Reactor& reactor = bench.reactor;
  records::Encoder encoder{format};

  void run(Task<void> task) {
    TaskGroup group(reactor.scope());
    group.spawn(std::move(task));
    reactor.run(group, nothing);
  }
  [[nodiscard]] RecordRuns make(std::uint32_t stride, std::uint64_t job = 5) {
    return {disk, reactor, small_plan(stride), KeptRuns{Direction::backward, job, head_bytes}};
  }
  [[nodiscard]] io::FilePtr open(const char* path, io::Role role = io::Role::run) {
    return disk.open_named(path, role, io::Caching::direct_if_possible);
  }
};

// Writes a sorted run, two run blocks at a time.
void write_run(TestBench& bench, RecordRuns& store, std::size_t run, const std::string& records) {
  const std::uint64_t run_blocks = store.run(run).blocks, count = records.size() / 100;
  for (std::uint64_t first = 0; first < run_blocks; first += 2) {
    const std::uint64_t n = std::min<std::uint64_t>(2, run_blocks - first);
    const io::AlignedBuffer block(n * run_block_bytes);
    for (std::uint64_t i = 0; i < n; ++i) {
      const std::uint64_t begin = (first + i) * run_block_records;
      const auto held = static_cast<std::uint32_t>(std::min<std::uint64_t>(run_block_records, count - begin));
      std::byte* const run_block = store.block_in(block.data(), n, i);
      std::memcpy(run_block, records.data() + begin * 100, held * 100UL);
      store.seal_records(store.run(run), first + i, held, run_block);
    }
    bench.run(store.write(run, first, block.data(), n * run_block_bytes));
  }
}

std::string run_block_text(TestBench& bench, RecordRuns& store, std::size_t run, std::uint64_t run_block, std::size_t records) {
  const io::AlignedBuffer block(run_block_bytes);
  bench.run(store.read(run, run_block, block.data(), run_block_bytes));
  store.check(store.run(run), run_block, block.data());
  return block.text(records * 100);
}

}  // namespace

TEST(RunDirection, ABackwardRunEndsWithItsSmallestRecords) {
  TestBench bench;
  const std::string records =
      engine::fixed::sorted_copy(format, engine::fixed::make_records(format, engine::fixed::Keys::uniform, 170));
  RecordRuns store = bench.make(1);
  const std::size_t run = store.adopt(bench.open("/job/run"), 3, 170, 0);
  write_run(bench, store, run, records);
  const std::string file = bench.disk.contents("/job/run");
  ASSERT_EQ(file.size(), head_bytes + 5U * run_block_bytes);
  EXPECT_EQ(file.substr(head_bytes + 4UL * run_block_bytes, 4'000), records.substr(0, 4'000));
  EXPECT_EQ(file.substr(head_bytes, 1'000), records.substr(16'000));
  for (std::uint64_t g = 0; g < 4; ++g) EXPECT_EQ(run_block_text(bench, store, run, g, 40), records.substr(g * 4'000, 4'000));
}

TEST(RunDirection, WhatIsLeftOfARunIsARunOfItsOwn) {
  TestBench bench;
  const std::string records =
      engine::fixed::sorted_copy(format, engine::fixed::make_records(format, engine::fixed::Keys::uniform, 170));
  {
    RecordRuns store = bench.make(1);
    write_run(bench, store, store.adopt(bench.open("/job/run"), 3, 170, 0), records);
  }
  bench.disk.set_size(*bench.open("/job/run"), head_bytes + 3UL * run_block_bytes);  // run blocks 0 and 1 are gone
  RecordRuns store = bench.make(2);
  const std::size_t run = store.adopt(bench.open("/job/run"), 3, 90, 2);
  EXPECT_EQ(run_block_text(bench, store, run, 0, 40), records.substr(8'000, 4'000));
  EXPECT_EQ(run_block_text(bench, store, run, 2, 10), records.substr(16'000));
  const io::AlignedBuffer memory(2 * store.block_bytes());
  bench.run(store.read_forecast(run, 90, 0, bench.encoder, {memory.data(), memory.size()}));
  for (const std::uint64_t run_block : {0U, 2U}) {
    const auto* first = reinterpret_cast<const std::byte*>(records.data()) + (run_block + 2) * 4'000;
    EXPECT_EQ(store.forecast().at(run, run_block).prefix, bench.encoder.prefix(first));
    EXPECT_EQ(store.forecast().at(run, run_block).extension, bench.encoder.extension(first));
  }
  // The same bytes as another run, at another place, or of another job.
  EXPECT_THROW((void)run_block_text(bench, store, store.adopt(bench.open("/job/run"), 4, 90, 2), 0, 40), IoError);
  EXPECT_THROW((void)run_block_text(bench, store, store.adopt(bench.open("/job/run"), 3, 90, 1), 0, 40), IoError);
  RecordRuns other = bench.make(2, 6);
  EXPECT_THROW((void)run_block_text(bench, other, other.adopt(bench.open("/job/run"), 3, 90, 2), 0, 40), IoError);
}

// Wherever an output ended, its continuation writes every byte after its last full unit once, and none before.
TEST(RunDirection, AContinuedOutputRewritesNothing) {
  const std::string text = io::pattern(40'007, 9);
  for (const std::size_t there : {0UL, 1UL, 4'095UL, 4'096UL, 4'097UL, 12'345UL, 36'000UL, 36'865UL}) {
    for (const std::size_t batch : {700UL, 8'000UL}) {
      const std::size_t durable = (there + 4'095) / 4'096 * 4'096;
      TestBench bench(text.substr(0, durable));
      RecordRuns runs(bench.disk, bench.reactor, small_plan(1), std::vector<std::string>{"/job"});
      const io::FilePtr file = bench.open("/job/out", io::Role::output);
      planner::MergeBuffers buffers;
      buffers.output_block_bytes = 3UL * 4'096;
      buffers.output_blocks = 2;
      engine::fixed::WriteBehind output(bench.bench, *file, buffers,
                                        {.total_bytes = text.size(), .reserve_bytes = 4'096, .least_unit = 4'096}, &runs);
      const auto write = [&]() -> Task<void> {
        co_await output.resume(there);
        for (std::size_t at = there; at < text.size(); at += batch) {
          const std::size_t size = std::min(batch, text.size() - at);
          std::byte* const place = co_await output.take(at);
          text.copy(reinterpret_cast<char*>(place), size, at);
          co_await output.put(place, size);
        }
        co_await output.finish();
      };
      const std::size_t before = bench.disk.log().size();
      bench.run(write());
      EXPECT_EQ(bench.disk.contents("/job/out"), text) << there << " " << batch;
      for (std::size_t i = before; i < bench.disk.log().size(); ++i) {
        const io::StoreEvent& event = bench.disk.log()[i];
        const bool is_write =
            event.kind == io::StoreEvent::Kind::issue_change && event.change.kind == io::StoreEvent::Change::Kind::write;
        EXPECT_TRUE(!is_write || event.change.offset >= durable) << there << " " << batch;
      }
    }
  }
}

TEST(RunDirection, AnOutputThatIsNotWhatItWasIsNotContinued) {
  const std::string text = io::pattern(20'000, 9);
  std::string changed = text.substr(0, 8'192);
  changed[7'000] ^= 1;
  TestBench bench(changed);
  RecordRuns runs(bench.disk, bench.reactor, small_plan(1), std::vector<std::string>{"/job"});
  const io::FilePtr file = bench.open("/job/out", io::Role::output);
  planner::MergeBuffers buffers;
  buffers.output_block_bytes = 3UL * 4'096;
  buffers.output_blocks = 2;
  engine::fixed::WriteBehind output(bench.bench, *file, buffers,
                                    {.total_bytes = text.size(), .reserve_bytes = 4'096, .least_unit = 4'096}, &runs);
  const auto write = [&]() -> Task<void> {
    co_await output.resume(6'000);
    std::byte* const place = co_await output.take(6'000);
    text.copy(reinterpret_cast<char*>(place), 4'000, 6'000);
    co_await output.put(place, 4'000);
  };
  EXPECT_THROW(bench.run(write()), IoError);
}

}  // namespace ecosort::run
