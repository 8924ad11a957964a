// Compression of runs of records: transposition, packing and unpacking of sorted run blocks. `per_byte`: CPU time of a plain byte
// on one thread.
#include <cstring>
#include <string>

#include "base/memory.h"
#include "bench_support.h"
#include "codec/transpose.h"
#include "run/packed_block.h"

namespace ecosort::bench {
namespace {

constexpr std::size_t block_bytes = std::size_t{128} << 10U;  // of a run that is packed
constexpr std::size_t blocks = 64;                            // 8 MiB: more than the second-level cache

enum Records : int { ascii, u64_and_id, random_bytes };
constexpr const char* record_names[] = {"ascii_100", "u64_and_id_16", "random_100"};
constexpr std::uint32_t record_sizes[] = {100, 16, 100};

// Sorted, and cut into blocks.
LargePages<std::byte> sorted_blocks(Records records) {
  const std::uint32_t size = record_sizes[records];
  const std::size_t each = (block_bytes - run::trailer_bytes) / size, count = each * blocks;
  std::vector<std::byte> all(count * size);
  if (records == ascii) {
    sortbenchmark::GensortRecords({.ascii = true, .skewed = false}, 0).generate(all.data(), count);
  } else {
    fill_random({all.data(), all.size()}, 1);
    for (std::uint64_t i = 0; records == u64_and_id && i < count; ++i) std::memcpy(all.data() + i * size + 8, &i, sizeof i);
  }
  std::vector<const std::byte*> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = all.data() + i * size;
  std::sort(order.begin(), order.end(), [](const std::byte* a, const std::byte* b) { return std::memcmp(a, b, 8) < 0; });
  LargePages<std::byte> out(blocks * block_bytes);
  for (std::size_t i = 0; i < count; ++i) std::memcpy(out.data() + i / each * block_bytes + i % each * size, order[i], size);
  return out;
}

std::uint32_t used_bytes(Records records) {
  return static_cast<std::uint32_t>((block_bytes - run::trailer_bytes) / record_sizes[records] * record_sizes[records]);
}

void set_per_byte(benchmark::State& state, std::size_t bytes) {
  state.counters["per_byte"] =
      benchmark::Counter(static_cast<double>(bytes), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void transposition(benchmark::State& state, codec::TransposeFunction function, Records records, bool is_back) {
  const LargePages<std::byte> in = sorted_blocks(records);
  LargePages<std::byte> out(block_bytes);
  const std::size_t size = record_sizes[records], count = used_bytes(records) / size;
  for (auto _ : state) {
    for (std::size_t block = 0; block < blocks; ++block) {
      const std::byte* const from = in.data() + block * block_bytes;
      is_back ? function(from, size, count, out.data()) : function(from, count, size, out.data());
      benchmark::ClobberMemory();
    }
  }
  set_per_byte(state, blocks * used_bytes(records));
}

struct Coder {
  Coder(const run::PackTerms& terms, Records records)
      : shape{block_bytes, record_sizes[records]},
        memory(budget.allocate(run::PackedBlockCoder::memory_bytes(terms.codec, shape), "a coder")),
        coder(terms.codec, shape, {memory.data(), memory.size()}) {}
  run::BlockShape shape;
  MemoryBudget budget{std::uint64_t{64} << 20U};
  Buffer memory;
  run::PackedBlockCoder coder;
};

void packing(benchmark::State& state, const run::PackTerms& terms, Records records, bool is_back) {
  const LargePages<std::byte> plain = sorted_blocks(records);
  LargePages<std::byte> packed(blocks * block_bytes), back(block_bytes);
  Coder with(terms, records);
  const run::BlockContents contents{.used_bytes = used_bytes(records)};
  std::vector<std::size_t> stored(blocks);
  std::size_t total = 0;
  const auto pack_all = [&] {
    for (std::size_t i = 0; i < blocks; ++i)
      stored[i] = with.coder.pack(terms, plain.data() + i * block_bytes, contents, i, packed.data() + i * block_bytes);
  };
  pack_all();
  for (const std::size_t size : stored) total += size == 0 ? block_bytes : size;
  for (auto _ : state) {
    if (!is_back) pack_all();
    for (std::size_t i = 0; is_back && i < blocks; ++i)
      if (stored[i] > 0 && !with.coder.unpack(packed.data() + i * block_bytes, stored[i], back.data()))
        state.SkipWithError("a block does not come back");
    benchmark::ClobberMemory();
  }
  state.counters["ratio"] = static_cast<double>(blocks * used_bytes(records)) / static_cast<double>(total);
  set_per_byte(state, blocks * used_bytes(records));
}

const bool registered = [] {
  for (const CpuLevel level : all_cpu_levels) {
    if (level > detected_cpu_level() || level == CpuLevel::avx512) continue;
    for (const Records records : {ascii, u64_and_id}) {
      for (const bool is_back : {false, true}) {
        const std::string name =
            std::string("transpose/") + std::string(to_string(level)) + "/" + record_names[records] + (is_back ? "/back" : "");
        benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
          transposition(state, codec::transpose_variant(level), records, is_back);
        });
      }
    }
  }
  benchmark::RegisterBenchmark("transpose/plain/ascii_100",
                               [](benchmark::State& state) { transposition(state, codec::transpose_plainly, ascii, false); });
  for (const codec::BlockTerms& codec :
       {codec::BlockTerms{codec::BlockCodec::lz4, 0}, codec::BlockTerms{codec::BlockCodec::zstd, 1}}) {
    for (const bool transposes : {false, true}) {
      for (const Records records : {ascii, u64_and_id, random_bytes}) {
        for (const bool is_back : {false, true}) {
          const std::string name = std::string(is_back ? "unpack/" : "pack/") + codec::text_of(codec) +
                                   (transposes ? "_of_columns/" : "/") + record_names[records];
          benchmark::RegisterBenchmark(name.c_str(),
                                       [=](benchmark::State& state) { packing(state, {codec, transposes}, records, is_back); });
        }
      }
    }
  }
  return true;
}();

}  // namespace
}  // namespace ecosort::bench
