#include "sortbenchmark/valsort_crc.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "sortbenchmark/gensort.h"
#include "sortbenchmark/valsort_crc_kernel.h"

namespace ecosort::sortbenchmark {
namespace {

std::vector<std::byte> random_bytes(std::size_t size) {
  std::mt19937_64 random(20100101);
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

// Bit by bit, from the definition: reflected polynomial, register inverted before and after.
std::uint32_t crc_by_definition(const std::byte* record) {
  std::uint32_t crc = 0xffffffff;
  for (std::size_t i = 0; i < gensort_record_bytes; ++i) {
    crc ^= static_cast<std::uint32_t>(record[i]);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xedb88320 : 0);
  }
  return ~crc;
}

std::uint64_t sum_by_definition(const std::byte* records, std::size_t count) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += crc_by_definition(records + i * gensort_record_bytes);
  return sum;
}

TEST(CrcSum, IsThatOfTheDefinitionForEveryCountAndVariant) {
  constexpr std::size_t most = 41;
  const std::vector<std::byte> data = random_bytes(most * gensort_record_bytes + 1);
  for (const CpuLevel level : all_cpu_levels) {
    if (level > detected_cpu_level()) continue;
    for (std::size_t count = 0; count <= most; ++count) {
      for (const std::size_t misalignment : {0, 1}) {
        const std::byte* records = data.data() + misalignment;
        EXPECT_EQ(crc_sum_variant(level)(records, count), sum_by_definition(records, count)) << to_string(level) << ' ' << count;
      }
    }
  }
}

TEST(CrcSum, NoticesEverySingleBit) {
  std::vector<std::byte> record = random_bytes(gensort_record_bytes);
  for (const CpuLevel level : all_cpu_levels) {
    if (level > detected_cpu_level()) continue;
    for (std::size_t bit = 0; bit < 8 * gensort_record_bytes; ++bit) {
      const std::byte mask = static_cast<std::byte>(1 << bit % 8);
      record[bit / 8] ^= mask;
      EXPECT_EQ(crc_sum_variant(level)(record.data(), 1), crc_by_definition(record.data())) << to_string(level) << " bit " << bit;
      record[bit / 8] ^= mask;
    }
  }
}

// The variants of a machine that has better ones are never chosen by themselves.
TEST(CrcSum, OfTheTablesWorksOnEveryMachine) {
  const std::vector<std::byte> data = random_bytes(7 * gensort_record_bytes);
  EXPECT_EQ(crc::crc_sum_tables(data.data(), 7), sum_by_definition(data.data(), 7));
}

TEST(Checksum, AddsModulo2To128AndPrintsNoLeadingZeros) {
  Checksum checksum;
  EXPECT_EQ(checksum.to_hex(), "0");
  checksum += Checksum{make_uint128(1, 0xab)};
  EXPECT_EQ(checksum.to_hex(), "100000000000000ab");
  checksum += Checksum{~uint128{0}};
  EXPECT_EQ(checksum.to_hex(), "100000000000000aa");
}

}  // namespace
}  // namespace ecosort::sortbenchmark
