// Exact splitting of sorted runs by rank: multisequence selection (Varman et al. 1991; Singler, Sanders, Putze 2007).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/fixed/run_view.h"
#include "formats/records/encoder.h"
#include "formats/records/record_table.h"
#include "run/shared_key.h"

namespace ecosort::engine::fixed {

// The first and the last record of all ranges by their keys; null where the ranges are empty. All keys lie between them, and so
// agree in the leading bytes in which these two do.
struct KeyBounds {
  const std::byte* first = nullptr;
  const std::byte* last = nullptr;

  // Leading key bytes that tell no two records apart. 0 where the first eight decide anyway.
  [[nodiscard]] std::uint64_t common_bytes(const records::Encoder& encoder) const noexcept {
    return first == nullptr || encoder.prefix_decides() ? 0 : encoder.common_key_bytes(first, last, 0);
  }
};
[[nodiscard]] KeyBounds key_bounds(const std::vector<RunView>& views, const std::vector<RunRange>& ranges,
                                   const records::Encoder& encoder);

// Returns where to cut each range so that the parts before the cuts hold exactly the `rank` smallest records, ordered by (key,
// run, position). 0 <= rank <= total length. Pure; thread-safe on views no one changes.
[[nodiscard]] std::vector<std::uint64_t> split_at_rank(const std::vector<RunView>& views, const std::vector<RunRange>& ranges,
                                                       std::uint64_t rank, const records::Encoder& encoder);

// Cuts runs in memory through their sorted indexes, and returns how many entries of each belong to the `rank` smallest.
using SortedIndex = std::span<sorting::Entry>;  // only read: the selection knows no iterators to constants
[[nodiscard]] std::vector<std::uint64_t> split_at_rank(const std::vector<SortedIndex>& runs, std::uint64_t rank,
                                                       const records::Encoder& encoder, const records::RecordTable& table);

// A point in the total order: records before it are safe to merge.
struct Bound {
  bool any = false;                   // false: no limit
  const std::byte* record = nullptr;  // inclusive: records up to this one ...
  std::uint32_t run = 0;              // ... which belongs to this run; ties of later runs come after it
};

// Returns whether a record of that run comes after the inclusive bound, which is one.
[[nodiscard]] bool is_after(const std::byte* record, std::uint32_t run, const Bound& bound, const records::Encoder& encoder);

// The number of the first record in `range` that comes after the inclusive bound.
[[nodiscard]] std::uint64_t first_after(const RunView& view, RunRange range, std::uint32_t run, const Bound& bound,
                                        const records::Encoder& encoder);

// The number of the first record in `range` that is not surely before a record of `later_run` with this forecast key.
[[nodiscard]] std::uint64_t first_not_before(const RunView& view, RunRange range, std::uint32_t run, const run::ForecastKey& key,
                                             std::uint32_t later_run, const records::Encoder& encoder,
                                             const run::SharedKey& shared);

}  // namespace ecosort::engine::fixed
