// The k-way merge of 100-byte records: our loser tree against the multiway merge of the parallel mode, stable like ours, on one
// thread and on two.
#include <omp.h>

#include <cstring>
#include <parallel/algorithm>
#include <utility>

#include "bench_support.h"
#include "engine/fixed/loser_tree.h"
#include "engine/fixed/split.h"

namespace ecosort::bench {
namespace {

constexpr std::uint32_t record_size = 100;
constexpr std::size_t total_records = 1'000'000;  // 100 MB: far beyond the caches, as in a merge
constexpr std::uint32_t run_block_records = 655;  // of 64 KiB with its checksum
constexpr std::uint32_t run_block_bytes = 65'536;

struct Record {
  std::byte bytes[record_size];
};

struct RecordLess {
  bool operator()(const Record& a, const Record& b) const noexcept { return std::memcmp(a.bytes, b.bytes, key_bytes) < 0; }
  static constexpr std::size_t key_bytes = 10;
};

// `k` sorted runs of equally many random records, contiguous.
struct Runs {
  explicit Runs(std::size_t k) : each(total_records / k), records(each * k) {
    fill_random(std::as_writable_bytes(std::span(records.data(), records.size())), k);
    for (std::size_t i = 0; i < k; ++i) std::sort(begin_of(i), begin_of(i + 1), RecordLess());
  }
  [[nodiscard]] Record* begin_of(std::size_t run) const { return records.data() + run * each; }

  std::size_t each;  // records of a run
  LargePages<Record> records;
};

// The runs as they are in memory during a merge: in run blocks with padding.
class RunBlockRuns {
 public:
  RunBlockRuns(const Runs& runs, std::size_t k)
      : run_blocks_((runs.each + run_block_records - 1) / run_block_records), bytes_(run_blocks_ * run_block_bytes * k) {
    for (std::size_t i = 0; i < k; ++i) {
      engine::fixed::RunView view;
      view.records_per_run_block = run_block_records;
      view.run_block_stride = run_block_bytes;
      view.record_size = record_size;
      for (std::size_t g = 0; g < run_blocks_; ++g) {
        std::byte* const run_block = bytes_.data() + (i * run_blocks_ + g) * run_block_bytes;
        const std::size_t count = std::min<std::size_t>(run_block_records, runs.each - g * run_block_records);
        std::memcpy(run_block, runs.begin_of(i) + g * run_block_records, count * record_size);
        view.blocks.push_back(run_block);
      }
      views.push_back(std::move(view));
      ranges.push_back({0, runs.each});
    }
  }

 private:
  std::size_t run_blocks_;  // of a run
  LargePages<std::byte> bytes_;

 public:
  std::vector<engine::fixed::RunView> views;
  std::vector<engine::fixed::RunRange> ranges;
};

void check_sorted(benchmark::State& state, const LargePages<Record>& out) {
  if (!std::is_sorted(out.data(), out.data() + out.size(), RecordLess())) state.SkipWithError("not sorted");
  set_per_record(state, out.size());
}

void merge_ecosort(benchmark::State& state) {
  const auto k = static_cast<std::size_t>(state.range(0));
  const Runs runs(k);
  const RunBlockRuns merged(runs, k);
  const records::Encoder encoder(records::RecordFormat{});
  const LargePages<Record> out(runs.records.size());
  for (auto _ : state) {
    engine::fixed::LoserTree tree(merged.views, merged.ranges, encoder);
    tree.emit(out.data()->bytes, out.size());
  }
  check_sorted(state, out);
}
BENCHMARK(merge_ecosort)->Arg(10)->Arg(47)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond);

// Two pieces at a time, as a thread of the merge does.
void merge_ecosort_both(benchmark::State& state) {
  const auto k = static_cast<std::size_t>(state.range(0));
  const Runs runs(k);
  const RunBlockRuns merged(runs, k);
  const records::Encoder encoder(records::RecordFormat{});
  const LargePages<Record> out(runs.records.size());
  const std::uint64_t half = out.size() / 2;
  const std::vector<std::uint64_t> cuts = engine::fixed::split_at_rank(merged.views, merged.ranges, half, encoder);
  std::vector<engine::fixed::RunRange> first = merged.ranges, second = merged.ranges;
  for (std::size_t i = 0; i < k; ++i) first[i].end = second[i].begin = cuts[i];
  for (auto _ : state) {
    engine::fixed::LoserTree low(merged.views, first, encoder), high(merged.views, second, encoder);
    engine::fixed::LoserTree::emit_both(low, out.data()->bytes, high, out.data()[half].bytes, half);
    high.emit(out.data()[2 * half].bytes, out.size() - 2 * half);
  }
  check_sorted(state, out);
}
BENCHMARK(merge_ecosort_both)->Arg(10)->Arg(47)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond);

template <class Tag>
void merge_parallel_mode(benchmark::State& state, Tag tag) {
  const auto k = static_cast<std::size_t>(state.range(0));
  const Runs runs(k);
  const LargePages<Record> out(runs.records.size());
  for (auto _ : state) {
    std::vector<std::pair<Record*, Record*>> sequences;
    for (std::size_t i = 0; i < k; ++i) sequences.emplace_back(runs.begin_of(i), runs.begin_of(i + 1));
    __gnu_parallel::stable_multiway_merge(sequences.begin(), sequences.end(), out.data(), out.size(), RecordLess(), tag);
  }
  check_sorted(state, out);
}

void merge_parallel_mode_1_thread(benchmark::State& state) { merge_parallel_mode(state, __gnu_parallel::sequential_tag()); }
BENCHMARK(merge_parallel_mode_1_thread)->Arg(10)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond);

void merge_parallel_mode_2_threads(benchmark::State& state) {
  omp_set_num_threads(2);
  merge_parallel_mode(state, __gnu_parallel::parallel_tag(2));
}
BENCHMARK(merge_parallel_mode_2_threads)->Arg(10)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();

}  // namespace
}  // namespace ecosort::bench
