#include "formats/records/gather.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/prefetch.h"

namespace ecosort::records {
namespace {

// The copy asks for so many cache lines ahead. Records of 16 bytes, 210 MB of them: 7.1 ns each with 16 lines, 5.3 ns with 64 and
// with 128 (2.6 GHz EPYC).
constexpr std::size_t lines_ahead = 64;
constexpr std::size_t cache_line = 64;

constexpr std::size_t records_ahead(std::size_t size) noexcept {
  return std::max<std::size_t>(1, lines_ahead / (size / cache_line + 1));
}

void prefetch_record(const std::byte* record, std::size_t size) noexcept {
  for (std::size_t at = 0; at < size; at += cache_line) prefetch(record + at);
  if (size > cache_line / 4) prefetch(record + size - 1);  // smaller ones seldom lie in two lines
}

// `Size` is a constant for the sizes that matter, so that the copy is a few moves without a loop.
template <class Size>
void gather_records(const sorting::Entry* entries, std::size_t n, const RecordTable& table, Size size, std::byte* out,
                    std::size_t following) noexcept {
  const std::size_t ahead = records_ahead(size);
  const std::size_t with_ahead = std::min(n, n + following - std::min(ahead, n + following));
  const auto copy = [&](std::size_t i) { std::memcpy(out + i * std::size_t{size}, table.at(entries[i].index, size), size); };
  for (std::size_t i = 0; i < with_ahead; ++i) {
    prefetch_record(table.at(entries[i + ahead].index, size), size);
    copy(i);
  }
  for (std::size_t i = with_ahead; i < n; ++i) copy(i);
}

}  // namespace

void gather(const sorting::Entry* entries, std::size_t n, const RecordTable& table, std::byte* out,
            std::size_t following) noexcept {
  if (table.record_size() == 16)
    return gather_records(entries, n, table, std::integral_constant<std::size_t, 16>{}, out, following);
  if (table.record_size() == 100)
    return gather_records(entries, n, table, std::integral_constant<std::size_t, 100>{}, out, following);
  gather_records(entries, n, table, std::size_t{table.record_size()}, out, following);
}

}  // namespace ecosort::records
