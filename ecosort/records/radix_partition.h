// The out-of-cache step of the index sort: one stable radix pass from `entries` to `scratch`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "records/radix_digit.h"

namespace ecosort::records {

// How entries[0..n) lie before a pass.
struct RangeOrder {
  KeyBits differing;
  bool ascending = true;            // no entry is less than the one before it
  bool strictly_descending = true;  // every entry is less than the one before it
};

// A partition of a range by one digit.
struct Partition {
  DigitPlan plan;
  RangeOrder order;
  std::vector<std::uint32_t> ends;  // bucket b is [ends[b-1], ends[b]); empty where the order made the pass unnecessary
};

// Moves entries[0..n) to scratch, stably ordered by the leading `wanted_bits` differing bits (fewer where fewer differ), and says
// where each bucket ends. Where the range is ascending or strictly descending nothing is moved and `ends` is empty. Both arrays
// are aligned to 16 bytes. At most `threads` TBB tasks at a time; each takes 256 bytes per bucket of memory for the time of the
// call.
Partition partition(const Entry* entries, Entry* scratch, std::size_t n, unsigned wanted_bits, unsigned threads);

}  // namespace ecosort::records
