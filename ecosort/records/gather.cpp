#include "records/gather.h"

#include <cstring>
#include <type_traits>

namespace ecosort::records {
namespace {

// How many records ahead of the copy the cache lines are asked for.
constexpr std::size_t prefetch_distance = 16;
constexpr std::size_t cache_line = 64;

void prefetch_record(const std::byte* record, std::size_t size) noexcept {
  for (std::size_t at = 0; at < size; at += cache_line) __builtin_prefetch(record + at);
  __builtin_prefetch(record + size - 1);
}

// `Size` is a constant for the sizes that matter, so that the copy is a few moves without a loop.
template <class Size>
void gather_records(const Entry* entries, std::size_t n, const RecordTable& table, Size size, std::byte* out,
                    std::size_t following) noexcept {
  const std::size_t known = n + following;
  for (std::size_t i = 0; i < n; ++i) {
    if (i + prefetch_distance < known) prefetch_record(table.at(entries[i + prefetch_distance].index, size), size);
    std::memcpy(out + i * std::size_t{size}, table.at(entries[i].index, size), size);
  }
}

}  // namespace

void gather(const Entry* entries, std::size_t n, const RecordTable& table, std::byte* out, std::size_t following) noexcept {
  if (table.record_size() == 16)
    return gather_records(entries, n, table, std::integral_constant<std::size_t, 16>{}, out, following);
  if (table.record_size() == 100)
    return gather_records(entries, n, table, std::integral_constant<std::size_t, 100>{}, out, following);
  gather_records(entries, n, table, std::size_t{table.record_size()}, out, following);
}

}  // namespace ecosort::records
