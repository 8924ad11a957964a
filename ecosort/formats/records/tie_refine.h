// Orders entries of equal (prefix, extension) by the rest of their keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "formats/records/encoder.h"
#include "formats/records/record_table.h"
#include "sorting/bucket_sort.h"
#include "sorting/entry.h"

namespace ecosort::records {

// The arrays that belong together while ties are refined.
struct TieContext {
  const Encoder& encoder;
  const RecordTable& table;
  sorting::Entry* entries;
  sorting::Entry* scratch;

  [[nodiscard]] const std::byte* record_of(const sorting::Entry& entry) const noexcept { return table.at(entry.index); }
};

// entries[begin..end) agree in their first `depth` key bytes.
struct TiedGroup {
  std::size_t begin;
  std::size_t end;
  std::uint64_t depth;

  [[nodiscard]] std::size_t size() const noexcept { return end - begin; }
};

// Orders the ties of the sorted range [begin, end). Groups of `postponed_from` entries or more are left as they are and appended
// to `postponed`.
void refine_range(const TieContext& context, std::size_t begin, std::size_t end, std::size_t postponed_from,
                  std::vector<TiedGroup>& postponed);

// Orders one group completely, with `threads` threads. The entries keep their (prefix, extension).
void refine_group(const TieContext& context, const TiedGroup& group, unsigned threads);

}  // namespace ecosort::records
