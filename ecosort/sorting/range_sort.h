// Stable radix sort of a range of entries by (prefix, extension): the partition and the bucket sort put together.
#pragma once

#include <cstddef>

#include "sorting/bucket_sort.h"
#include "sorting/entry.h"

namespace ecosort::sorting {

enum class Target { same_array, other_array };

// Sorts entries[0..n); the result is left in `entries` or in `other`, whose n entries are lost else. Both are aligned to 16
// bytes. With threads > 1 shared with the thread pool of the caller, each part with a workspace of its own; `workspace` serves
// the calling thread. Every level of the recursion orders by bits that differ in its range, so there are at most 96.
void sort_range(Entry* entries, Entry* other, std::size_t n, Target target, BucketWorkspace& workspace, unsigned threads);

}  // namespace ecosort::sorting
