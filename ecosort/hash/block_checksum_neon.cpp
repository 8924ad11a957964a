#include "hash/block_checksum_kernel.h"
#include "hash/block_checksum_variants.h"

namespace ecosort::hash {

std::uint64_t block_checksum_neon(const std::byte* data, std::size_t size, std::uint64_t seed) noexcept {
  return xxh3_checksum(data, size, seed);
}

}  // namespace ecosort::hash
