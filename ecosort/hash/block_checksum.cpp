#include "hash/block_checksum.h"

#if defined(__aarch64__)
#define XXH_VECTOR 0  // the baseline has no vectors, of which the header knows NEON
#endif
#include "hash/block_checksum_kernel.h"
#include "hash/block_checksum_variants.h"

namespace ecosort::hash {

std::uint64_t block_checksum_baseline(const std::byte* data, std::size_t size, std::uint64_t seed) noexcept {
  return xxh3_checksum(data, size, seed);
}

BlockChecksumFunction block_checksum_variant(CpuLevel level) noexcept {
#if defined(__x86_64__)
  if (level >= CpuLevel::avx512) return block_checksum_avx512;
  if (level >= CpuLevel::avx2) return block_checksum_avx2;
#elif defined(__aarch64__)
  if (level == CpuLevel::neon) return block_checksum_neon;
#endif
  static_cast<void>(level);
  return block_checksum_baseline;
}

std::uint64_t block_checksum(const std::byte* data, std::size_t size, std::uint64_t seed) {
  static const BlockChecksumFunction variant = block_checksum_variant(cpu_level());
  return variant(data, size, seed);
}

}  // namespace ecosort::hash
