// The permutation of run formation: copies records into the order of the sorted entries.
#pragma once

#include <cstddef>
#include <cstdint>

#include "formats/records/record_table.h"
#include "sorting/entry.h"

namespace ecosort::records {

// out[i] = the record of entries[i], for i in 0..n). `out` has room for n records and does not overlap the records. Reads inside
// the named records only. Thread-safe: callers split the entries among threads, and call once per block that is checksummed while
// it is still in the cache. The `following` entries after the n belong to later blocks: their records are on the way to the cache
// when the next call needs them.
void gather(const sorting::Entry* entries, std::size_t n, const RecordTable& table, std::byte* out,
            std::size_t following = 0) noexcept;

}  // namespace ecosort::records
