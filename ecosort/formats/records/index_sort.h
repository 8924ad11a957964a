// The index sort of run formation: orders (key prefix, index) entries; the records stay where they are.
//
// Two steps. sort_entries orders by (prefix, extension), the leading 12 key bytes, with a radix sort; where longer keys tie,
// refine_ties orders the tied groups by the rest of the key. Both are stable: entries that arrive in index order leave with
// equal keys in index order. The parallel forms compute the same result with at most `threads` threads: those of
// the caller's thread pool (base/thread_pool.h). No function allocates more than a few KiB besides `scratch`.
#pragma once

#include <cstddef>

#include "formats/records/encoder.h"
#include "formats/records/record_table.h"
#include "sorting/entry.h"

namespace ecosort::records {

// Sorts entries[0..n) by (prefix, extension), stable. `scratch` has room for n entries; its contents are lost.
void sort_entries(sorting::Entry* entries, sorting::Entry* scratch, std::size_t n);
void sort_entries_parallel(sorting::Entry* entries, sorting::Entry* scratch, std::size_t n, unsigned threads);

// After sort_entries: orders every group of equal (prefix, extension) by the full key, then by the order it arrived in. The
// record of entry e is table.at(e.index). Nothing to do, and nothing done, where encoder.decides(). Entries keep their own
// (prefix, extension).
void refine_ties(sorting::Entry* entries, sorting::Entry* scratch, std::size_t n, const Encoder& encoder,
                 const RecordTable& table);
void refine_ties_parallel(sorting::Entry* entries, sorting::Entry* scratch, std::size_t n, const Encoder& encoder,
                          const RecordTable& table, unsigned threads);

}  // namespace ecosort::records
