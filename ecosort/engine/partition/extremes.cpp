#include "engine/partition/extremes.h"

#include "engine/partition/splitter.h"

namespace ecosort::engine::partition {
namespace {

using records::Encoder;
using records::RecordTable;
using sorting::Entry;

int compare(const Entry& a, const Entry& b, const Encoder& encoder, const RecordTable& table) {
  if (a.prefix != b.prefix) return a.prefix < b.prefix ? -1 : 1;
  if (encoder.prefix_decides()) return 0;
  if (a.extension != b.extension) return a.extension < b.extension ? -1 : 1;
  return encoder.decides() ? 0 : encoder.compare(table.at(a.index), table.at(b.index));
}

}  // namespace

void Extremes::take(const Entry* rows, std::size_t n, const Encoder& encoder, const RecordTable& table) {
  if (n == 0) return;
  const Entry *low = rows, *high = rows;
  for (const Entry* row = rows + 1; row < rows + n; ++row) {
    if (compare(*row, *low, encoder, table) < 0) low = row;
    if (compare(*row, *high, encoder, table) >= 0) high = row;
  }
  const std::byte *const smallest = table.at(low->index), *const largest = table.at(high->index);
  if (first_.empty() || encoder.compare(smallest, bytes_of(first_)) < 0)
    first_.assign(reinterpret_cast<const char*>(smallest), encoder.record_size());
  if (last_.empty() || encoder.compare(largest, bytes_of(last_)) >= 0)
    last_.assign(reinterpret_cast<const char*>(largest), encoder.record_size());
}

}  // namespace ecosort::engine::partition
