#include "records/range_sort.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "records/bucket_sort.h"
#include "records/parallel_parts.h"
#include "records/radix_digit.h"
#include "records/radix_partition.h"

// Most significant digit first, two steps for most inputs:
//
//   entries --partition, up to 12 bits, past the caches--> scratch --bucket by bucket, 16 bits, in the cache--> entries
//
// The paper (section 4) sorts least significant digit first by three bytes and finishes with insertion sort; that moves every
// entry through memory three times, this once there and once back. A bucket too large for the second step (skewed keys) is copied
// back and partitioned again by the bits that still differ in it.

namespace ecosort::records {
namespace {

constexpr unsigned bucket_bits = 12;     // a uniform bucket has 2^11 ... 2^12 entries
constexpr unsigned max_digit_bits = 12;  // 4096 buckets: 1 MiB of bucket buffers per task
constexpr unsigned bucket_digit_bits = 16;
constexpr std::size_t parallel_threshold = std::size_t{1} << 16U;  // entries; below, tasks cost more than they save
constexpr std::size_t tasks_per_thread = 8;

unsigned digit_bits_for(std::size_t n) {
  const auto bits = static_cast<unsigned>(std::bit_width(n - 1));  // n entries: n <= 2^bits
  return std::clamp(bits, bucket_bits + 1, bucket_bits + max_digit_bits) - bucket_bits;
}

// Orders the groups that sort_bucket left: neighbours that agree in the digit, too many for insertion.
void sort_groups(Entry* entries, Entry* scratch, std::size_t n, const DigitPlan& plan, BucketWorkspace& workspace) {
  with_digit(plan, [&](auto digit_of) {
    for (std::size_t begin = 0; begin < n;) {
      std::size_t end = begin + 1;
      while (end < n && digit_of(entries[end]) == digit_of(entries[begin])) ++end;
      if (end - begin > insertion_limit) sort_range(entries + begin, scratch + begin, end - begin, workspace, 1);
      begin = end;
    }
  });
}

// Sorts a bucket that lies in `scratch` into `entries`; `differing` covers the bits in which its entries may differ.
void sort_bucket_back(Entry* entries, Entry* scratch, std::size_t n, KeyBits differing, BucketWorkspace& workspace) {
  if (n <= insertion_limit || differing.none()) {
    std::memcpy(static_cast<void*>(entries), scratch, n * sizeof(Entry));
    if (!differing.none()) insertion_sort(entries, n);
    return;
  }
  const DigitPlan plan = plan_digit(differing, bucket_digit_bits);
  if (sort_bucket(scratch, entries, n, plan, workspace)) sort_groups(entries, scratch, n, plan, workspace);
}

// Sorts the buckets first ... last-1 of a partition back into `entries`.
void sort_buckets(Entry* entries, Entry* scratch, std::size_t n, const Partition& partition, std::size_t first, std::size_t last,
                  BucketWorkspace& workspace, unsigned threads) {
  const KeyBits remaining = partition.plan.remaining(partition.order.differing);
  const std::size_t crowded = 4 * (n / partition.ends.size()) + insertion_limit;
  for (std::size_t bucket = first; bucket < last; ++bucket) {
    const std::size_t begin = bucket == 0 ? 0 : partition.ends[bucket - 1];
    const std::size_t size = partition.ends[bucket] - begin;
    if (size > max_bucket) {
      std::memcpy(static_cast<void*>(entries + begin), scratch + begin, size * sizeof(Entry));
      sort_range(entries + begin, scratch + begin, size, workspace, threads);
    } else {
      // In a crowded bucket bits that differ elsewhere are likely to agree: look before spending a pass on them.
      const KeyBits differing = size > crowded ? differing_bits(scratch + begin, size) : remaining;
      sort_bucket_back(entries + begin, scratch + begin, size, differing, workspace);
    }
  }
}

void sort_cached_range(Entry* entries, Entry* scratch, std::size_t n, BucketWorkspace& workspace) {
  if (n <= insertion_limit) return insertion_sort(entries, n);
  const KeyBits differing = differing_bits(entries, n);
  if (differing.none()) return;
  std::memcpy(static_cast<void*>(scratch), entries, n * sizeof(Entry));
  sort_bucket_back(entries, scratch, n, differing, workspace);
}

}  // namespace

void sort_range(Entry* entries, Entry* scratch, std::size_t n, BucketWorkspace& workspace, unsigned threads) {
  if (n <= max_bucket) return sort_cached_range(entries, scratch, n, workspace);
  if (n < parallel_threshold) threads = 1;
  const Partition partition = records::partition(entries, scratch, n, digit_bits_for(n), threads);
  if (partition.order.ascending) return;
  if (partition.order.strictly_descending) return std::reverse(entries, entries + n);
  const std::size_t buckets = partition.ends.size();
  if (threads <= 1) return sort_buckets(entries, scratch, n, partition, 0, buckets, workspace, 1);
  const std::size_t tasks = std::min(buckets, tasks_per_thread * threads);
  for_each_part(threads, tasks, [&](std::size_t task) {
    BucketWorkspace own;
    sort_buckets(entries, scratch, n, partition, part_begin(buckets, tasks, task), part_begin(buckets, tasks, task + 1), own,
                 threads);
  });
}

}  // namespace ecosort::records
