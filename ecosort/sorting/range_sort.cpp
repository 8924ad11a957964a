#include "sorting/range_sort.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "sorting/parallel_parts.h"
#include "sorting/radix_digit.h"
#include "sorting/radix_partition.h"

// Most significant digit first, two steps for most inputs:
//
//   entries --partition, up to 12 bits, past the caches--> other --bucket by bucket, 16 bits or more, in the cache--> entries
//
// The paper (section 4) sorts least significant digit first by three bytes and finishes with insertion sort; that moves every
// entry through memory three times, this once there and once back. A bucket too large for the second step (skewed keys) is
// partitioned again by the bits that still differ in it, back into `entries`; its buckets are then small enough to be sorted to
// and fro in the cache.

namespace ecosort::sorting {
namespace {

constexpr unsigned bucket_bits = 12;                               // a uniform bucket has 2^11 ... 2^12 entries
constexpr unsigned max_digit_bits = 12;                            // 4096 buckets: 1 MiB of bucket buffers per task
constexpr std::size_t parallel_threshold = std::size_t{1} << 16U;  // entries; below, tasks cost more than they save
constexpr std::size_t tasks_per_thread = 8;

unsigned digit_bits_for(std::size_t n) {
  const auto bits = static_cast<unsigned>(std::bit_width(n - 1));  // n entries: n <= 2^bits
  return std::clamp(bits, bucket_bits + 1, bucket_bits + max_digit_bits) - bucket_bits;
}

Target opposite(Target target) { return target == Target::same_array ? Target::other_array : Target::same_array; }

void copy_entries(Entry* to, const Entry* from, std::size_t n) { std::memcpy(static_cast<void*>(to), from, n * sizeof(Entry)); }

// Orders the groups that sort_bucket left: neighbours that agree in the digit, too many for insertion.
void sort_groups(Entry* entries, Entry* other, std::size_t n, const DigitPlan& plan, BucketWorkspace& workspace) {
  with_digit(plan, [&](auto digit_of) {
    for (std::size_t begin = 0; begin < n;) {
      std::size_t end = begin + 1;
      while (end < n && digit_of(entries[end]) == digit_of(entries[begin])) ++end;
      if (end - begin > insertion_limit)
        sort_range(entries + begin, other + begin, end - begin, Target::same_array, workspace, 1);
      begin = end;
    }
  });
}

// At most max_bucket entries; `differing` covers the bits in which they may differ.
void sort_cached_range(Entry* entries, Entry* other, std::size_t n, KeyBits differing, Target target,
                       BucketWorkspace& workspace) {
  if (n <= insertion_limit || differing.none()) {
    if (!differing.none()) insertion_sort(entries, n);
    if (target == Target::other_array) copy_entries(other, entries, n);
    return;
  }
  const BucketWay way = bucket_way(n, differing);
  const DigitPlan plan = plan_digit(differing, way.digit_bits);
  if (sort_bucket(entries, other, n, plan, way, workspace)) sort_groups(other, entries, n, plan, workspace);
  if (target == Target::same_array) copy_entries(entries, other, n);
}

// A range whose buckets lie in entries[0..n), to be sorted one by one.
struct BucketJob {
  Entry* entries;
  Entry* other;
  std::size_t n;
  const Partition& partition;
  Target target;
  unsigned threads;
};

void sort_buckets(const BucketJob& job, std::size_t first, std::size_t last, BucketWorkspace& workspace) {
  const std::vector<std::uint32_t>& ends = job.partition.ends;
  const std::size_t crowded = 4 * (job.n / ends.size()) + insertion_limit;
  for (std::size_t bucket = first; bucket < last; ++bucket) {
    const std::size_t begin = bucket == 0 ? 0 : ends[bucket - 1];
    const std::size_t size = ends[bucket] - begin;
    Entry* entries = job.entries + begin;
    Entry* other = job.other + begin;
    if (size > max_bucket) {
      sort_range(entries, other, size, job.target, workspace, job.threads);
    } else {
      // In a crowded bucket bits that differ elsewhere are likely to agree: look before spending a pass on them.
      const bool look = job.partition.look_for_remaining || size > crowded;
      const KeyBits differing = look ? differing_bits(entries, size) : job.partition.remaining;
      sort_cached_range(entries, other, size, differing, job.target, workspace);
    }
  }
}

}  // namespace

void sort_range(Entry* entries, Entry* other, std::size_t n, Target target, BucketWorkspace& workspace, unsigned threads) {
  if (n <= max_bucket) return sort_cached_range(entries, other, n, differing_bits(entries, n), target, workspace);
  if (n < parallel_threshold) threads = 1;
  const Partition partition = sorting::partition(entries, other, n, digit_bits_for(n), threads);
  if (partition.ends.empty()) {  // ascending or strictly descending
    if (!partition.order.ascending) std::reverse(entries, entries + n);
    if (target == Target::other_array) copy_entries(other, entries, n);
    return;
  }
  const BucketJob job{other, entries, n, partition, opposite(target), threads};
  const std::size_t buckets = partition.ends.size();
  if (threads <= 1) return sort_buckets(job, 0, buckets, workspace);
  const std::size_t tasks = std::min(buckets, tasks_per_thread * threads);
  for_each_part(threads, tasks, [&](std::size_t task) {
    BucketWorkspace own;
    sort_buckets(job, part_begin(buckets, tasks, task), part_begin(buckets, tasks, task + 1), own);
  });
}

}  // namespace ecosort::sorting
