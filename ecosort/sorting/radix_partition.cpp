#include "sorting/radix_partition.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "base/uint128.h"
#include "sorting/parallel_parts.h"

// Scattering entry by entry touches another page and another cache line with every store: 14-17 ns per entry where the entries
// exceed the caches (2.4 GHz Xeon, virtual machine). So each bucket collects 256 bytes in a small buffer that stays in the
// second-level cache, and full buffers go to memory in whole lines past the caches: 4-5 ns (8 ns with 64-byte buffers). The
// digit is chosen from a sample of the range before the counting pass, which checks it against all entries; only where a rare bit
// was missed does the range have to be counted again.
//
// Skewed keys, such as those of `gensort -s`, nest common beginnings of many lengths; by digits they would be partitioned again
// and again. Splitters cut them in one pass, for 4 ns more per entry and pass. Few different keys are left to the digits: no
// splitter can separate equal keys, and a bucket of equal keys is recognised by the next counting pass.

namespace ecosort::sorting {
namespace {

constexpr std::size_t buffered = 16;                                // entries per bucket buffer: four cache lines
constexpr std::size_t streaming_threshold = std::size_t{1} << 16U;  // entries; below 1 MiB the target stays in the cache
constexpr std::size_t samples_per_splitter = 8;
constexpr std::size_t digit_batch = 8;
constexpr unsigned most_bits = 12,
                   most_bits_of_all = 15;  // for values that digits lack: of a thread's buckets, and of all threads'

std::vector<Entry> take_sample(const Entry* entries, std::size_t n, std::size_t size) {
  std::vector<Entry> sample(size);
  for (std::size_t i = 0; i < size; ++i) sample[i] = entries[part_begin(n, size, i)];
  return sample;
}

// Returns whether a quarter of the sample lies in digits that hold many times their share, though the prefixes themselves are
// different.
bool is_skewed(std::vector<Entry> sample, const DigitPlan& plan) {
  std::sort(sample.begin(), sample.end(), key_less);
  const std::size_t crowd = 16 + 8 * sample.size() / plan.values();
  std::size_t crowded = 0;
  std::size_t different = 1;
  with_digit(plan, [&](auto digit_of) {
    for (std::size_t begin = 0; begin < sample.size();) {
      std::size_t end = begin + 1;
      for (; end < sample.size() && digit_of(sample[end]) == digit_of(sample[begin]); ++end) {
        different += sample[end].prefix != sample[end - 1].prefix;
      }
      if (end - begin > crowd) crowded += end - begin;
      different += end < sample.size();
      begin = end;
    }
  });
  return crowded >= sample.size() / 4 && different >= sample.size() / 2;
}

// Returns how many different values so many entries take on average where all occur alike.
double values_taken(double values, std::size_t entries) noexcept {
  double missing = 1;
  for (double missed = 1 - 1 / values; entries > 0; entries /= 2, missed *= missed)
    if (entries % 2 == 1) missing *= missed;
  return values * (1 - missing);
}

// Digits of numbers and text do not take all of their values: four bits of a decimal digit have ten. Returns how many bits more
// make buckets as small as they are wanted, if the sample takes as few values as if there were that much fewer. The digit that
// orders a bucket lacks values, too, so that the buckets must be smaller still: integers as text 34 -> 14 ns a row.
unsigned lacking_bits(const std::vector<Entry>& sample, const DigitPlan& plan) {
  constexpr unsigned most = 2, inside_of_buckets = 2;
  constexpr double half_a_bit = 0.71;
  std::vector<bool> seen(plan.values());
  with_digit(plan, [&](auto digit_of) {
    for (const Entry& entry : sample) seen[digit_of(entry)] = true;
  });
  const auto taken = static_cast<double>(std::ranges::count(seen, true));
  double values = half_a_bit * static_cast<double>(plan.values());
  unsigned bits = 0;
  for (; bits < most && taken < values_taken(values, sample.size()); values /= 2) ++bits;
  return bits == 0 ? 0 : bits + inside_of_buckets;
}

// Sorted prefixes as an implicit search tree: node i has the children 2i and 2i+1. An entry's bucket is the number of splitters
// that are not above its prefix.
class Splitters {
 public:
  Splitters(std::vector<Entry> sample, unsigned levels) : levels_(levels), nodes_(std::size_t{1} << levels) {
    std::sort(sample.begin(), sample.end(), key_less);
    for (std::size_t i = 1; i < nodes_.size(); ++i) {
      const auto level = static_cast<unsigned>(std::bit_width(i)) - 1;
      const std::size_t in_level = i - (std::size_t{1} << level);
      const std::size_t rank = (2 * in_level + 1) << (levels_ - level - 1);
      nodes_[i] = sample[part_begin(sample.size(), nodes_.size(), rank)].prefix;
    }
  }
  [[nodiscard]] std::size_t values() const noexcept { return nodes_.size(); }

  // The buckets of digit_batch entries, side by side: one search alone waits for each comparison (10.8 against 5.0 ns at 10
  // levels).
  void operator()(const Entry* entries, std::uint32_t* buckets) const noexcept {
    std::size_t node[digit_batch];
    std::fill_n(node, digit_batch, 1);
    for (unsigned level = 0; level < levels_; ++level) {
#pragma GCC unroll 8
      for (std::size_t i = 0; i < digit_batch; ++i) node[i] = 2 * node[i] + (nodes_[node[i]] <= entries[i].prefix);
    }
    for (std::size_t i = 0; i < digit_batch; ++i) buckets[i] = static_cast<std::uint32_t>(node[i] - nodes_.size());
  }

 private:
  unsigned levels_;
  std::vector<std::uint64_t> nodes_;
};

// Calls use(entry, bucket) for entries[begin..end). `bucket_of` is a Digit, or gives the buckets of digit_batch entries at a
// time.
template <class BucketOf, class Use>
void for_each_bucket(const Entry* entries, std::size_t begin, std::size_t end, const BucketOf& bucket_of, const Use& use) {
  if constexpr (std::is_invocable_v<BucketOf, const Entry&>) {
    for (std::size_t i = begin; i < end; ++i) use(entries[i], bucket_of(entries[i]));
  } else {
    std::uint32_t buckets[digit_batch];
    std::size_t at = begin;
    for (; at + digit_batch <= end; at += digit_batch) {
      bucket_of(entries + at, buckets);
      for (std::size_t i = 0; i < digit_batch; ++i) use(entries[at + i], buckets[i]);
    }
    Entry rest[digit_batch] = {};
    std::copy(entries + at, entries + end, rest);
    bucket_of(rest, buckets);
    for (std::size_t i = 0; at + i < end; ++i) use(rest[i], buckets[i]);
  }
}

// One part of the range: its order and how many entries of each bucket it has.
struct Count {
  RangeOrder order;
  std::vector<std::uint32_t> buckets;
};

// Two of them are compared by a subtraction, without a branch.
uint128 whole_key(const Entry& entry) noexcept { return make_uint128(entry.prefix, entry.extension); }

template <class BucketOf>
Count count_buckets(const Entry* entries, std::size_t begin, std::size_t end, std::size_t values, const BucketOf& bucket_of) {
  std::vector<std::uint32_t> even(values);
  std::vector<std::uint32_t> odd(values);  // entries of one bucket in a row would wait for each other's counter
  std::uint32_t* counters = even.data();
  std::uint32_t* other_counters = odd.data();
  KeyBits differing;
  std::size_t descents = 0;
  Entry last = entries[begin == 0 ? 0 : begin - 1];
  for_each_bucket(entries, begin, end, bucket_of, [&](const Entry& entry, std::uint32_t bucket) {
    differing.add_difference(entry, last);
    descents += whole_key(entry) < whole_key(last);
    last = entry;
    ++counters[bucket];
    std::swap(counters, other_counters);
  });
  for (std::size_t value = 0; value < values; ++value) even[value] += odd[value];
  const std::size_t with_itself = begin == 0 ? 1 : 0;  // the first entry of the range has none before it
  return {{differing, descents == 0, descents + with_itself == end - begin}, std::move(even)};
}

RangeOrder combined_order(const std::vector<Count>& counts) {
  RangeOrder order;
  for (const Count& count : counts) {
    order.differing |= count.order.differing;
    order.ascending &= count.order.ascending;
    order.strictly_descending &= count.order.strictly_descending;
  }
  return order;
}

// Turns each part's counts into the places where its entries go (bucket by bucket, in each bucket part by part), and returns
// where the buckets end.
std::vector<std::uint32_t> turn_into_starts(std::vector<Count>& counts, std::size_t values) {
  std::vector<std::uint32_t> ends(values);
  std::uint32_t sum = 0;
  for (std::size_t value = 0; value < values; ++value) {
    for (Count& count : counts) sum += std::exchange(count.buckets[value], sum);
    ends[value] = sum;
  }
  return ends;
}

void copy_buffer(const Entry* buffer, Entry* to, bool streaming) noexcept {
#if defined(__SSE2__)
  if (streaming) {
    for (std::size_t i = 0; i < buffered; ++i) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), _mm_load_si128(reinterpret_cast<const __m128i*>(buffer + i)));
    }
    return;
  }
#endif
  static_cast<void>(streaming);
  std::memcpy(to, buffer, buffered * sizeof(Entry));
}

// Pages of their own, which go back at once: many threads take and leave them between smaller blocks, and a heap would keep their
// holes (40 MiB with 2,048 buckets).
struct Unmap {
  std::size_t bytes = 0;
  void operator()(Entry* entries) const noexcept { ::munmap(entries, bytes); }
};
using BucketBuffers = std::unique_ptr<Entry[], Unmap>;

BucketBuffers make_buffers(std::size_t buckets) {
  const std::size_t bytes = buckets * buffered * sizeof(Entry);
  void* const pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  return BucketBuffers(static_cast<Entry*>(pages), Unmap{bytes});
}

// Scatters entries[begin..end) to scratch; `next` holds the places of this part and is advanced.
//
// The buffer of a bucket mirrors the 16 entries of scratch that hold its next place, aligned to 256 bytes in memory:
//
//   scratch  ... |..xxxxxxxxxxxxxx|xxxxxxxxx.......| ...      x: entries of this bucket and part
//                   ^ first        ^ window ^ next            the first window of a part may start inside it
template <class BucketOf>
void scatter(const Entry* entries, std::size_t begin, std::size_t end, Entry* scratch, std::size_t n,
             std::vector<std::uint32_t>& next, const BucketOf& bucket_of) {
  const BucketBuffers buffers = make_buffers(next.size());
  const std::vector<std::uint32_t> first = next;
  const std::size_t skew = reinterpret_cast<std::uintptr_t>(scratch) / sizeof(Entry) % buffered;
  const bool streaming = n >= streaming_threshold;
  for_each_bucket(entries, begin, end, bucket_of, [&](const Entry& entry, std::uint32_t bucket) {
    Entry* buffer = buffers.get() + bucket * buffered;
    const std::size_t place = next[bucket]++;
    const std::size_t in_window = (place + skew) % buffered;
    buffer[in_window] = entry;
    if (in_window != buffered - 1) return;
    if (place >= first[bucket] + (buffered - 1)) {
      copy_buffer(buffer, scratch + place - (buffered - 1), streaming);
    } else {
      for (std::size_t k = first[bucket]; k <= place; ++k) scratch[k] = buffer[(k + skew) % buffered];
    }
  });
  for (std::size_t bucket = 0; bucket < next.size(); ++bucket) {
    const std::size_t waiting = std::min<std::size_t>((next[bucket] + skew) % buffered, next[bucket] - first[bucket]);
    for (std::size_t k = next[bucket] - waiting; k < next[bucket]; ++k) {
      scratch[k] = buffers[bucket * buffered + (k + skew) % buffered];
    }
  }
#if defined(__SSE2__)
  if (streaming) _mm_sfence();
#endif
}

// The passes over the whole range, in parts.
class Passes {
 public:
  Passes(const Entry* entries, Entry* scratch, std::size_t n, unsigned threads)
      : entries_(entries), scratch_(scratch), n_(n), threads_(threads), counts_(std::max(1U, threads)) {}

  template <class BucketOf>
  RangeOrder count(std::size_t values, const BucketOf& bucket_of) {
    for_each_part(threads_, counts_.size(), [&](std::size_t part) {
      counts_[part] = count_buckets(entries_, part_begin(n_, counts_.size(), part), part_begin(n_, counts_.size(), part + 1),
                                    values, bucket_of);
    });
    return combined_order(counts_);
  }

  // After count with the same digits. Returns where the buckets end.
  template <class BucketOf>
  std::vector<std::uint32_t> move(const BucketOf& bucket_of) {
    std::vector<std::uint32_t> ends = turn_into_starts(counts_, counts_.front().buckets.size());
    for_each_part(threads_, counts_.size(), [&](std::size_t part) {
      scatter(entries_, part_begin(n_, counts_.size(), part), part_begin(n_, counts_.size(), part + 1), scratch_, n_,
              counts_[part].buckets, bucket_of);
    });
    return ends;
  }

 private:
  const Entry* entries_;
  Entry* scratch_;
  std::size_t n_;
  unsigned threads_;
  std::vector<Count> counts_;
};

bool is_settled(const RangeOrder& order) { return order.ascending || order.strictly_descending; }

Partition partition_by_splitters(Passes& passes, const Splitters& splitters) {
  Partition result;
  result.order = passes.count(splitters.values(), splitters);
  result.remaining = result.order.differing;
  result.look_for_remaining = true;
  if (!is_settled(result.order)) result.ends = passes.move(splitters);
  return result;
}

Partition partition_by_digit(Passes& passes, DigitPlan plan, unsigned wanted_bits) {
  Partition result;
  const auto count = [&] { with_digit(plan, [&](auto digit_of) { result.order = passes.count(plan.values(), digit_of); }); };
  count();
  if (is_settled(result.order)) return result;
  if (!plan.leads(result.order.differing)) {
    plan = plan_digit(result.order.differing, wanted_bits);
    count();
  }
  result.remaining = plan.remaining(result.order.differing);
  with_digit(plan, [&](auto digit_of) { result.ends = passes.move(digit_of); });
  return result;
}

}  // namespace

Partition partition(const Entry* entries, Entry* scratch, std::size_t n, unsigned wanted_bits, unsigned threads) {
  Passes passes(entries, scratch, n, threads);
  const std::vector<Entry> sample = take_sample(entries, n, std::min<std::size_t>(1024, n / 64));
  const KeyBits differing = differing_bits(sample.data(), sample.size());
  const DigitPlan plan = plan_digit(differing, wanted_bits);
  if (!is_skewed(sample, plan)) {
    const unsigned most =
        std::min(most_bits, most_bits_of_all - static_cast<unsigned>(std::bit_width(std::max(threads, 1U) - 1)));
    const unsigned bits = std::min(wanted_bits + lacking_bits(sample, plan), std::max(wanted_bits, most));
    return partition_by_digit(passes, bits > wanted_bits ? plan_digit(differing, bits) : plan, bits);
  }
  const std::size_t splitter_samples = std::min(n, samples_per_splitter << wanted_bits);
  return partition_by_splitters(passes, Splitters(take_sample(entries, n, splitter_samples), wanted_bits));
}

}  // namespace ecosort::sorting
