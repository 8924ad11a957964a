#include "records/multiset_hash.h"

#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <xxhash.h>

namespace ecosort::records {

void MultisetHash::add_records(const std::byte* records, std::size_t record_count, std::uint32_t record_size) {
  for (std::size_t i = 0; i < record_count; ++i) {
    const XXH128_hash_t hash = XXH3_128bits(records + i * record_size, record_size);
    low += hash.low64;
    high += hash.high64;
  }
  count += record_count;
}

std::string MultisetHash::to_hex() const { return fmt::format("{:016x}{:016x}", high, low); }

}  // namespace ecosort::records
