// CRC-32 sum with the CRC32 instructions of ARMv8 (optional in 8.0, present in every later core).
#if defined(__aarch64__)

#include <arm_acle.h>

#include <cstring>

#include "sortbenchmark/valsort_crc_kernel.h"

namespace ecosort::sortbenchmark::crc {

__attribute__((target("+crc"))) std::uint64_t crc_sum_armv8(const std::byte* records, std::size_t count) noexcept {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < count; ++i, records += 100) {
    std::uint32_t crc = 0xffffffff, tail;
    for (std::size_t offset = 0; offset < 96; offset += 8) {
      std::uint64_t word;
      std::memcpy(&word, records + offset, sizeof word);
      crc = __crc32d(crc, word);
    }
    std::memcpy(&tail, records + 96, sizeof tail);
    sum += ~__crc32w(crc, tail);
  }
  return sum;
}

}  // namespace ecosort::sortbenchmark::crc

#endif
