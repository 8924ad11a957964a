// The always-on verification: record hash and block checksum, per instruction set, in the second-level cache and from memory.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <string>

#include "bench_support.h"
#include "hash/block_checksum.h"
#include "hash/multiset_hash.h"

namespace ecosort::bench {
namespace {

constexpr std::uint32_t record_size = 100;
constexpr std::uint32_t small_record_size = 16;

// The obvious candidate, as a yardstick.
hash::MultisetHash hash_records_xxh3(const std::byte* data, std::size_t count, std::uint32_t size) noexcept {
  hash::MultisetHash sum;
  for (std::size_t i = 0; i < count; ++i) {
    const XXH128_hash_t hash = XXH3_128bits(data + i * size, size);
    sum += {hash.low64, hash.high64, 1};
  }
  return sum;
}

void hash_records(benchmark::State& state, hash::HashRecordsFunction function, std::uint32_t size) {
  const auto n = static_cast<std::size_t>(state.range(0));
  LargePages<std::byte> data(n * size);
  fill_random({data.data(), data.size()}, 1);
  for (auto _ : state) benchmark::DoNotOptimize(function(data.data(), n, size));
  set_per_record(state, n);
}

void checksum_block(benchmark::State& state, hash::BlockChecksumFunction function) {
  const auto size = static_cast<std::size_t>(state.range(0));
  LargePages<std::byte> data(size);
  fill_random({data.data(), data.size()}, 1);
  std::uint64_t seed = 0;
  for (auto _ : state) benchmark::DoNotOptimize(function(data.data(), size, ++seed));
  state.SetBytesProcessed(static_cast<std::int64_t>(size) * state.iterations());
  set_per_record(state, size / record_size);
}

const bool registered = [] {
  const auto add_hash = [](const std::string& name, hash::HashRecordsFunction function) {
    for (const std::uint32_t size : {record_size, small_record_size}) {
      const std::string title = size == record_size ? "hash_records/" : "hash_small_records/";
      benchmark::RegisterBenchmark((title + name).c_str(), [=](benchmark::State& state) { hash_records(state, function, size); })
          ->Arg(5000)
          ->Arg(2000000);
    }
  };
  for (const CpuLevel level : all_cpu_levels) {
    if (level > detected_cpu_level()) continue;
    add_hash(std::string(to_string(level)), hash::hash_records_variant(level));
    const auto checksum = hash::block_checksum_variant(level);
    benchmark::RegisterBenchmark(("checksum_block/" + std::string(to_string(level))).c_str(),
                                 [=](benchmark::State& state) { checksum_block(state, checksum); })
        ->Arg(4096)
        ->Arg(65536)
        ->Arg(262144)
        ->Arg(200000000);
  }
  add_hash("xxh3_128", hash_records_xxh3);
  return true;
}();

}  // namespace
}  // namespace ecosort::bench
