// Sums up what the sort knows about its records on either side, to prove that nothing was lost (promise P1).
#pragma once

#include <cstddef>
#include <cstdint>

#include "hash/multiset_hash.h"
#include "sortbenchmark/valsort_crc.h"

namespace ecosort::engine::fixed {

// Sums over records, whatever their order. Added up by the coordinator from what the compute threads return.
struct Tally {
  hash::MultisetHash hash;
  sortbenchmark::Checksum checksum;  // valsort's; only where --checksum asks for it

  Tally& operator+=(const Tally& other) noexcept {
    hash += other.hash;
    checksum += other.checksum;
    return *this;
  }
};

}  // namespace ecosort::engine::fixed
