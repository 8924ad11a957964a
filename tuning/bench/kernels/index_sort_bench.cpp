// Index sort: ours against the sorts of the standard library, its parallel mode and TBB.
#include <omp.h>
#include <tbb/parallel_sort.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cstring>
#include <latch>
#include <parallel/algorithm>
#include <string>

#include "base/thread_pool.h"
#include "bench_support.h"
#include "formats/records/index_sort.h"
#include "sorting/radix_digit.h"

namespace ecosort::bench {
namespace {

using sorting::Entry;
using sorting::key_less;
using SortFunction = void (*)(Entry* entries, Entry* scratch, std::size_t n);

constexpr unsigned two_threads = 2;

// By a thread pool that lives as long as that of a sort.
void sort_two_threads(Entry* entries, Entry* scratch, std::size_t n) {
  static ThreadPool thread_pool(two_threads);
  std::latch sorted(1);
  thread_pool.post([&] {
    records::sort_entries_parallel(entries, scratch, n, two_threads);
    sorted.count_down();
  });
  sorted.wait();
}
void sort_std(Entry* entries, Entry* /*scratch*/, std::size_t n) { std::sort(entries, entries + n, key_less); }
void sort_std_stable(Entry* entries, Entry* /*scratch*/, std::size_t n) { std::stable_sort(entries, entries + n, key_less); }
void sort_parallel_mode(Entry* entries, Entry* /*scratch*/, std::size_t n) {
  omp_set_num_threads(two_threads);
  __gnu_parallel::sort(entries, entries + n, key_less);
}
void sort_tbb(Entry* entries, Entry* /*scratch*/, std::size_t n) {
  tbb::task_arena arena(two_threads);
  arena.execute([&] { tbb::parallel_sort(entries, entries + n, key_less); });
}

void run(benchmark::State& state, SortFunction sort, Distribution distribution) {
  const auto n = static_cast<std::size_t>(state.range(0));
  LargePages<Entry> input(n);
  LargePages<Entry> entries(n);
  LargePages<Entry> scratch(n);
  fill_entries({input.data(), n}, distribution);
  for (auto _ : state) {
    state.PauseTiming();
    std::memcpy(static_cast<void*>(entries.data()), input.data(), n * sizeof(Entry));
    state.ResumeTiming();
    sort(entries.data(), scratch.data(), n);
  }
  if (!std::is_sorted(entries.data(), entries.data() + n, key_less)) state.SkipWithError("not sorted");
  set_per_record(state, n);
}

struct Contender {
  const char* name;
  SortFunction sort;
};
constexpr Contender contenders[] = {
    {"ecosort", records::sort_entries},   {"ecosort_2_threads", sort_two_threads},         {"std_sort", sort_std},
    {"std_stable_sort", sort_std_stable}, {"parallel_mode_2_threads", sort_parallel_mode}, {"tbb_2_threads", sort_tbb},
};

const bool registered = [] {
  for (const Contender& contender : contenders) {
    for (const Distribution distribution : {uniform, printable, skewed, equal, sorted, reverse}) {
      const std::string name = std::string("index_sort/") + contender.name + "/" + distribution_names[distribution];
      benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) { run(state, contender.sort, distribution); })
          ->Arg(1000000)
          ->Arg(4000000)
          ->Unit(benchmark::kMillisecond)
          ->MeasureProcessCPUTime();
    }
  }
  return true;
}();

}  // namespace
}  // namespace ecosort::bench
