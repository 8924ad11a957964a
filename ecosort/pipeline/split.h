// Exact splitting of sorted runs by rank: multisequence selection (Varman et al. 1991; Singler, Sanders, Putze 2007).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pipeline/run_view.h"
#include "pipeline/shared_key.h"
#include "records/encoder.h"
#include "records/record_table.h"

namespace ecosort::pipeline {

// Where to cut each range so that the parts before the cuts hold exactly the `rank` smallest records, ordered by (key, run,
// position). 0 <= rank <= total length. Pure; thread-safe on views nobody changes.
[[nodiscard]] std::vector<std::uint64_t> split_at_rank(const std::vector<RunView>& views, const std::vector<RunRange>& ranges,
                                                       std::uint64_t rank, const records::Encoder& encoder);

// The same for runs in memory, through their sorted indexes: how many entries of each belong to the `rank` smallest.
using SortedIndex = std::span<records::Entry>;  // only read: the selection knows no iterators to constants
[[nodiscard]] std::vector<std::uint64_t> split_at_rank(const std::vector<SortedIndex>& runs, std::uint64_t rank,
                                                       const records::Encoder& encoder, const records::RecordTable& table);

// A point in the total order: records before it are safe to merge.
struct Bound {
  bool any = false;                   // false: no limit
  const std::byte* record = nullptr;  // inclusive: records up to this one ...
  std::uint32_t run = 0;              // ... which belongs to this run; ties of later runs come after it
};

// The number of the first record in `range` that comes after the inclusive bound.
[[nodiscard]] std::uint64_t first_after(const RunView& view, RunRange range, std::uint32_t run, const Bound& bound,
                                        const records::Encoder& encoder);

// The number of the first record in `range` that is not surely before a record of `later_run` with this forecast key.
[[nodiscard]] std::uint64_t first_not_before(const RunView& view, RunRange range, std::uint32_t run, const ForecastKey& key,
                                             std::uint32_t later_run, const records::Encoder& encoder, const SharedKey& shared);

}  // namespace ecosort::pipeline
