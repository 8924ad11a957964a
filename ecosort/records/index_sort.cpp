#include "records/index_sort.h"

#include <algorithm>

namespace ecosort::records {
namespace {

bool less(const Entry& a, const Entry& b) { return a.prefix != b.prefix ? a.prefix < b.prefix : a.extension < b.extension; }

}  // namespace

void sort_entries(Entry* entries, Entry* /*scratch*/, std::size_t n) { std::stable_sort(entries, entries + n, less); }

void sort_entries_parallel(Entry* entries, Entry* scratch, std::size_t n, unsigned /*threads*/) {
  sort_entries(entries, scratch, n);
}

void refine_ties(Entry* entries, Entry* /*scratch*/, std::size_t n, const Encoder& encoder, const std::byte* records) {
  if (encoder.decides()) return;
  const std::size_t stride = encoder.record_size();
  const auto by_key = [&](const Entry& a, const Entry& b) {
    return encoder.compare(records + a.index * stride, records + b.index * stride) < 0;
  };
  for (Entry* group = entries; group != entries + n;) {
    Entry* end = group + 1;
    while (end != entries + n && !less(*group, *end)) ++end;
    std::stable_sort(group, end, by_key);
    group = end;
  }
}

void refine_ties_parallel(Entry* entries, Entry* scratch, std::size_t n, const Encoder& encoder, const std::byte* records,
                          unsigned /*threads*/) {
  refine_ties(entries, scratch, n, encoder, records);
}

}  // namespace ecosort::records
