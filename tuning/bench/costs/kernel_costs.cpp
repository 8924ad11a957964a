#include <algorithm>

#include "base/memory.h"
#include "costs/cost.h"
#include "engine/fixed/loser_tree.h"
#include "engine/fixed/split.h"
#include "formats/records/encoder.h"
#include "formats/records/gather.h"
#include "formats/records/index_sort.h"
#include "sortbenchmark/gensort.h"

namespace ecosort::bench {

namespace {

constexpr std::size_t total_records = std::size_t{5} << 19U;  // 262 MB: a run of the 10 GB sort in 1 GiB
constexpr std::size_t bytes = total_records * record_size;
constexpr std::size_t cached_records = 81;  // of 8 KiB
constexpr std::uint32_t run_block_records = (run_block_bytes - 8) / record_size;

// Records, their index, and as much room to put them in order. Large pages, as in the sort.
struct Data {
  explicit Data(const records::Encoder& key_encoder) : encoder(key_encoder) {
    sortbenchmark::GensortRecords generator({.ascii = true}, 0);
    generator.generate(records.data(), total_records);
    extract();
  }
  void extract() { records::extract(encoder, records.data(), total_records, 0, entries()); }
  // Extracts as often, from the first records: hashing has brought them into the first-level cache.
  void extract_cached() {
    for (std::size_t at = 0; at + cached_records <= total_records; at += cached_records)
      records::extract(encoder, records.data(), cached_records, 0, entries() + at);
  }
  void sort(std::size_t begin, std::size_t end) { records::sort_entries(entries() + begin, scratch_entries(), end - begin); }
  [[nodiscard]] sorting::Entry* entries() const { return index.as<sorting::Entry>().data(); }
  [[nodiscard]] sorting::Entry* scratch_entries() const { return scratch.as<sorting::Entry>().data(); }
  [[nodiscard]] records::RecordTable table() const { return {records.data(), record_size}; }

  const records::Encoder& encoder;
  MemoryBudget memory{~std::uint64_t{0}};
  Buffer records = memory.allocate(bytes, "records"), out = memory.allocate(bytes + bytes / 64, "output");
  Buffer index = memory.allocate(total_records * sizeof(sorting::Entry), "index");
  Buffer scratch = memory.allocate(total_records * sizeof(sorting::Entry), "scratch");
};

// Sorted runs in run blocks, as they are in memory during a merge.
struct Runs {
  Runs(Data& data, unsigned count) {
    data.extract();
    std::byte* run_block = data.out.data();
    for (unsigned i = 0; i < count; ++i) {
      const std::size_t begin = total_records * i / count, end = total_records * (i + 1) / count;
      data.sort(begin, end);
      views.emplace_back();
      views.back().records_per_run_block = run_block_records;
      views.back().run_block_stride = run_block_bytes;
      views.back().record_size = record_size;
      ranges.push_back({0, end - begin});
      for (std::size_t at = begin; at < end; at += run_block_records, run_block += run_block_bytes) {
        if (run_block + run_block_bytes > data.out.data() + data.out.size()) {  // what does not fit is left out
          ranges.back().end = at - begin;
          break;
        }
        records::gather(data.entries() + at, std::min<std::size_t>(run_block_records, end - at), data.table(), run_block);
        views.back().blocks.push_back(run_block);
      }
      merged += ranges.back().end;
    }
  }
  std::vector<engine::fixed::RunView> views;
  std::vector<engine::fixed::RunRange> ranges;
  std::uint64_t merged = 0;  // records
};

double merge_cost(Data& data, unsigned count) {
  const Runs runs(data, count);
  const std::uint64_t half = runs.merged / 2;
  const std::vector<std::uint64_t> cuts = engine::fixed::split_at_rank(runs.views, runs.ranges, half, data.encoder);
  std::vector<engine::fixed::RunRange> low = runs.ranges, high = runs.ranges;
  for (std::size_t i = 0; i < cuts.size(); ++i) low[i].end = high[i].begin = cuts[i];
  return cost(2 * half * record_size, [&] {
    engine::fixed::LoserTree first(runs.views, low, data.encoder), second(runs.views, high, data.encoder);
    std::byte* const out = data.records.data();  // no longer needed
    engine::fixed::LoserTree::emit_both(first, out, second, out + half * record_size, half);
  });
}

}  // namespace

Costs kernel_costs(unsigned runs) {
  const records::Encoder encoder(records::RecordFormat{});
  Data data(encoder);
  Costs costs;
  costs.emplace_back("extract", cost(bytes, [&] { data.extract_cached(); }));
  costs.emplace_back("index_sort", cost(bytes, [&] { data.extract(); }, [&] { data.sort(0, total_records); }));
  costs.emplace_back("gather",
                     cost(bytes, [&] { records::gather(data.entries(), total_records, data.table(), data.out.data()); }));
  costs.emplace_back("merge", merge_cost(data, runs));
  return costs;
}

}  // namespace ecosort::bench
