// The out-of-cache step of the index sort: one stable pass from `entries` to `scratch`.
//
// The buckets are the values of a radix digit, or, where a sample shows that the digits are too unevenly used (skewed keys), the
// intervals between splitters taken from the sample.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sorting/radix_digit.h"

namespace ecosort::sorting {

// Describes how entries[0..n) lie before a pass.
struct RangeOrder {
  KeyBits differing;
  bool ascending = true;            // no entry is less than the one before it
  bool strictly_descending = true;  // every entry is less than the one before it
};

// A range cut into buckets: no entry of a bucket is less than one of an earlier bucket.
struct Partition {
  RangeOrder order;
  KeyBits remaining;                // covers the bits that differ inside the buckets
  bool look_for_remaining = false;  // most buckets differ in fewer bits than those
  std::vector<std::uint32_t> ends;  // bucket b is [ends[b-1], ends[b]); empty where the order made the pass unnecessary
};

// Moves entries[0..n) to scratch, stably, into about 2^wanted_bits buckets (at most 2^16), and says where each bucket ends: up to
// 16 times as many, but then at most 2^12, where digits do not take all of their values. Where the range is ascending or strictly
// descending nothing is moved and `ends` is empty. Both arrays are aligned to 16 bytes. At most `threads` threads; each takes 264
// bytes per bucket of memory for the time of the call. n >= 1024.
Partition partition(const Entry* entries, Entry* scratch, std::size_t n, unsigned wanted_bits, unsigned threads);

}  // namespace ecosort::sorting
