// The kernel benchmarks share records and entries of several distributions, and the unit of the results.
//
// Every benchmark reports `per_record`, the CPU time of one record over all threads (smaller is better).
#pragma once

#include <benchmark/benchmark.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "formats/records/encoder.h"
#include "sortbenchmark/gensort.h"

namespace ecosort::bench {

// Page-aligned memory with large pages where the system grants them, as the buffers of a sort have it.
template <class T>
class LargePages {
 public:
  explicit LargePages(std::size_t count) : count_(count) {
    void* address = ::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (address == MAP_FAILED) throw std::bad_alloc();
    ::madvise(address, bytes(), MADV_HUGEPAGE);
    data_ = static_cast<T*>(address);
    for (std::size_t i = 0; i < count_; ++i) data_[i] = T{};
  }
  ~LargePages() {
    if (data_ != nullptr) ::munmap(data_, bytes());
  }
  LargePages(LargePages&& other) noexcept : count_(std::exchange(other.count_, 0)), data_(std::exchange(other.data_, nullptr)) {}
  LargePages(const LargePages&) = delete;
  LargePages& operator=(const LargePages&) = delete;

  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] T& operator[](std::size_t i) const { return data_[i]; }

 private:
  [[nodiscard]] std::size_t bytes() const { return count_ * sizeof(T); }
  std::size_t count_;
  T* data_;
};

inline void fill_random(std::span<std::byte> bytes, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
}

enum Distribution : int { uniform, printable, skewed, equal, sorted, reverse };
inline const char* const distribution_names[] = {"uniform", "printable", "skewed", "equal", "sorted", "reverse"};

// Entries of the 10-byte keys of 100-byte records: uniform as of `gensort`, printable as of `gensort -a`, skewed as of `gensort
// -a -s`.
inline void fill_entries(std::span<sorting::Entry> entries, Distribution distribution) {
  const records::Encoder encoder(records::RecordFormat{});
  sortbenchmark::GensortRecords generator({.ascii = distribution != uniform, .skewed = distribution == skewed}, 1000000000);
  constexpr std::size_t batch = 1000;
  std::vector<std::byte> data(batch * encoder.record_size());
  for (std::size_t done = 0; done < entries.size(); done += batch) {
    const std::size_t count = std::min(batch, entries.size() - done);
    generator.generate(data.data(), count);
    extract(encoder, data.data(), count, static_cast<std::uint32_t>(done), entries.data() + done);
  }
  const std::size_t n = entries.size();
  for (std::uint32_t i = 0; i < n; ++i) {
    if (distribution == equal) entries[i] = {entries[0].prefix, entries[0].extension, i};
    if (distribution == sorted) entries[i] = {std::uint64_t{i} << 32U, 0, i};
    if (distribution == reverse) entries[i] = {(n - i) << 32U, 0, i};
  }
}

inline void set_per_record(benchmark::State& state, std::size_t records) {
  state.counters["per_record"] = benchmark::Counter(static_cast<double>(records),
                                                    benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

}  // namespace ecosort::bench
