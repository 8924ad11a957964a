// The steps of run formation around the index sort, on 100-byte records: hashes and keys, ties, gather.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>

#include "bench_support.h"
#include "engine/fixed/extract_records.h"
#include "formats/records/encoder.h"
#include "formats/records/gather.h"
#include "formats/records/index_sort.h"

namespace ecosort::bench {
namespace {

using records::Encoder;
using sorting::Entry;

constexpr std::uint32_t record_size = 100;

void extract_keys(benchmark::State& state, const records::RecordFormat& format) {
  const auto n = static_cast<std::size_t>(state.range(0));
  LargePages<std::byte> data(n * record_size);
  fill_random({data.data(), data.size()}, 1);
  LargePages<Entry> entries(n);
  const Encoder encoder(format);
  for (auto _ : state) {
    extract(encoder, data.data(), n, 0, entries.data());
    benchmark::ClobberMemory();
  }
  set_per_record(state, n);
}
BENCHMARK_CAPTURE(extract_keys, default_key, records::RecordFormat{})->Arg(5000)->Arg(1000000)->Arg(4000000);
BENCHMARK_CAPTURE(extract_keys, descending, records::RecordFormat{100, {{3, 7, true}}})->Arg(1000000);
BENCHMARK_CAPTURE(extract_keys, two_fields, records::RecordFormat{100, {{50, 4}, {3, 7, true}}})->Arg(1000000);
BENCHMARK_CAPTURE(extract_keys, u64, records::make_record_format(100, {"8:u64"}))->Arg(1000000);
BENCHMARK_CAPTURE(extract_keys, f64, records::make_record_format(100, {"8:f64"}))->Arg(1000000);
BENCHMARK_CAPTURE(extract_keys, nocase, records::make_record_format(100, {"3:20:nocase"}))->Arg(1000000);
BENCHMARK_CAPTURE(extract_keys, dec, records::make_record_format(100, {"3:12:dec"}))->Arg(1000000);

// Records as they arrive: hashed, and their keys taken.
void arrived_records(benchmark::State& state) {
  const auto n = static_cast<std::size_t>(state.range(0));
  LargePages<std::byte> data(n * record_size);
  fill_random({data.data(), data.size()}, 1);
  LargePages<Entry> entries(n);
  const Encoder encoder(records::RecordFormat{});
  for (auto _ : state)
    benchmark::DoNotOptimize(engine::fixed::extract_records(encoder, data.data(), n, 0, entries.data(), false));
  set_per_record(state, n);
}
BENCHMARK(arrived_records)->Arg(2000000);

LargePages<Entry> shuffled_entries(std::size_t n) {
  LargePages<Entry> entries(n);
  for (std::uint32_t i = 0; i < n; ++i) entries[i].index = i;
  std::shuffle(entries.data(), entries.data() + n, std::mt19937_64(2));
  return entries;
}

void copy_one_by_one(const Entry* entries, std::size_t n, const records::RecordTable& table, std::byte* out,
                     std::size_t /*following*/) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    std::memcpy(out + i * record_size, table.at(entries[i].index), record_size);
  }
}

void gather_records(benchmark::State& state, decltype(&records::gather) function) {
  const auto n = static_cast<std::size_t>(state.range(0));
  LargePages<std::byte> data(n * record_size);
  LargePages<std::byte> out(n * record_size);
  const LargePages<Entry> entries = shuffled_entries(n);
  const records::RecordTable table(data.data(), record_size);
  for (auto _ : state) {
    function(entries.data(), n, table, out.data(), 0);
    benchmark::ClobberMemory();
  }
  set_per_record(state, n);
}
BENCHMARK_CAPTURE(gather_records, ecosort, records::gather)->Arg(1000000)->Arg(4000000);
BENCHMARK_CAPTURE(gather_records, without_prefetch, copy_one_by_one)->Arg(1000000)->Arg(4000000);

constexpr const char* url_beginning = "https://www.example.com/archive/2024/";

// The whole way from records to sorted index with a key of 60 bytes: `urls` share their first 37 bytes, `random` nothing.
void sort_long_keys(benchmark::State& state, bool urls) {
  const auto n = static_cast<std::size_t>(state.range(0));
  LargePages<std::byte> data(n * record_size);
  std::mt19937_64 random(3);
  for (std::byte& byte : std::span(data.data(), data.size())) byte = static_cast<std::byte>('a' + random() % 26);
  for (std::size_t i = 0; urls && i < n; ++i)
    std::memcpy(data.data() + i * record_size, url_beginning, std::strlen(url_beginning));
  LargePages<Entry> entries(n);
  LargePages<Entry> scratch(n);
  const Encoder encoder({record_size, {{0, 60}}});
  for (auto _ : state) {
    extract(encoder, data.data(), n, 0, entries.data());
    records::sort_entries(entries.data(), scratch.data(), n);
    records::refine_ties(entries.data(), scratch.data(), n, encoder, records::RecordTable(data.data(), record_size));
  }
  set_per_record(state, n);
}
BENCHMARK_CAPTURE(sort_long_keys, random, false)->Arg(1000000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sort_long_keys, urls, true)->Arg(1000000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ecosort::bench
