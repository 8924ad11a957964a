#include "sortbenchmark/valsort_crc.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "sortbenchmark/gensort.h"
#include "sortbenchmark/valsort_crc_kernel.h"

#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace ecosort::sortbenchmark {
namespace crc {
namespace {

// tables[k][b]: the effect of byte b on the CRC after k more zero bytes. 8 KiB, so that they stay in the L1 cache of an Atom.
constexpr std::size_t slices = 8;
using Tables = std::array<std::array<std::uint32_t, 256>, slices>;
constexpr Tables tables = [] {
  Tables made{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ ((value & 1) != 0 ? polynomial : 0);
    made[0][byte] = value;
  }
  for (std::size_t k = 1; k < slices; ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) made[k][byte] = made[k - 1][byte] >> 8 ^ made[0][made[k - 1][byte] & 255];
  }
  return made;
}();

template <class T>
T load(const std::byte* p) noexcept {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

std::uint32_t look_up(std::uint32_t word, std::size_t zero_bytes_after) noexcept {
  return tables[zero_bytes_after + 3][word & 255] ^ tables[zero_bytes_after + 2][word >> 8 & 255] ^
         tables[zero_bytes_after + 1][word >> 16 & 255] ^ tables[zero_bytes_after][word >> 24];
}

std::uint32_t advance_8_bytes(std::uint32_t crc, std::uint64_t word) noexcept {
  return look_up(static_cast<std::uint32_t>(word) ^ crc, 4) ^ look_up(static_cast<std::uint32_t>(word >> 32), 0);
}

// Two records side by side: the look-ups of one fill the wait for the other's.
std::uint64_t crc_sum_of_two(const std::byte* a, const std::byte* b) noexcept {
  std::uint32_t crc_a = 0xffffffff, crc_b = 0xffffffff;
  for (std::size_t offset = 0; offset < 96; offset += 8) {
    crc_a = advance_8_bytes(crc_a, load<std::uint64_t>(a + offset));
    crc_b = advance_8_bytes(crc_b, load<std::uint64_t>(b + offset));
  }
  crc_a = look_up(load<std::uint32_t>(a + 96) ^ crc_a, 0);
  crc_b = look_up(load<std::uint32_t>(b + 96) ^ crc_b, 0);
  return std::uint64_t{~crc_a} + ~crc_b;
}

std::uint32_t crc_of_one(const std::byte* record) noexcept {
  std::uint32_t crc = 0xffffffff;
  for (std::size_t offset = 0; offset < 96; offset += 8) crc = advance_8_bytes(crc, load<std::uint64_t>(record + offset));
  return ~look_up(load<std::uint32_t>(record + 96) ^ crc, 0);
}

}  // namespace

std::uint64_t crc_sum_tables(const std::byte* records, std::size_t count) noexcept {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i + 2 <= count; i += 2) sum += crc_sum_of_two(records + 100 * i, records + 100 * (i + 1));
  return count % 2 == 0 ? sum : sum + crc_of_one(records + 100 * (count - 1));
}

}  // namespace crc

CrcSumFunction crc_sum_variant(CpuLevel level) noexcept {
#if defined(__x86_64__)
  if (level >= CpuLevel::avx512) return crc::crc_sum_avx512;
  if (level >= CpuLevel::avx2) return crc::crc_sum_avx2;
#elif defined(__aarch64__)
  if (level == CpuLevel::neon && (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0) return crc::crc_sum_armv8;
#endif
  static_cast<void>(level);
  return crc::crc_sum_tables;
}

Checksum crc_sum(const std::byte* records, std::size_t count) {
  static const CrcSumFunction sum_of = crc_sum_variant(cpu_level());
  constexpr std::size_t batch = 1U << 30;  // below 2^32, so that no sum overflows
  Checksum total;
  while (count > 0) {
    const std::size_t now = std::min(count, batch);
    total += Checksum{sum_of(records, now)};
    records += now * gensort_record_bytes;
    count -= now;
  }
  return total;
}

}  // namespace ecosort::sortbenchmark
