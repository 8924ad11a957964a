#include "hash/multiset_hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <set>

#include "cpp/formats/records/test_support.h"

namespace ecosort::hash {
namespace {

MultisetHash hash_of(const std::byte* records, std::size_t count, std::uint32_t size) {
  MultisetHash hash;
  hash.add_records(records, count, size);
  return hash;
}

using Bits = std::pair<std::uint64_t, std::uint64_t>;
Bits bits_of(const std::byte* record, std::uint32_t size) {
  const MultisetHash hash = hash_of(record, 1, size);
  return {hash.low, hash.high};
}

struct PinnedHash {
  std::uint32_t record_size;
  const char* hex;
};

// Computed from the definition in the header by a separate program in arbitrary-precision arithmetic.
constexpr PinnedHash pinned_hashes[] = {
    {1, "53ba6477b790d1f11770c413b6832464"},    {7, "f7969a7e46a23938c973c4733fad7625"},
    {8, "a66e1a4b07e6a13c005764394cb2374b"},    {10, "4cb0d13d172da2a3dee75daeb95563bc"},
    {16, "beb4fdb19a31a2cab1ad07faaed842cc"},   {100, "b280d568a462ad9f9e18cc32028ff26d"},
    {101, "06868bc2e4176b137470680272ab10d9"},  {1024, "37a4729d7f32c76d83238bb57f7a388d"},
    {1032, "7980d3163687e2a874d278e0032ac646"}, {2500, "6dcef596b81c672b0f2b06763813cdd2"},
};

TEST(MultisetHash, IsThePublishedFunctionAtEveryCpuLevel) {
  for (const auto& [size, hex] : pinned_hashes) {
    std::vector<std::byte> data(5 * std::size_t{size});
    for (std::uint64_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>((i * i * 31 + 7 * i + size) >> 3U);
    for (const CpuLevel level : records::available_cpu_levels()) {
      EXPECT_EQ(hash_records_variant(level)(data.data(), 5, size).to_hex(), hex) << to_string(level) << ", record size " << size;
    }
  }
}

TEST(MultisetHash, IsTheSameAtEveryCpuLevelForAnySizeCountAndAlignment) {
  std::mt19937_64 random(1);
  std::vector<std::uint32_t> sizes = {1023, 1024, 1025, 2048, 4096, 4099, 1U << 20U};
  for (std::uint32_t size = 1; size <= 300; ++size) sizes.push_back(size);
  for (const std::uint32_t size : sizes) {
    const std::size_t count = size > 5000 ? 5 : 1 + random() % 19;
    const std::size_t shift = random() % 16;
    const records::Bytes data = records::random_bytes(shift + count * size, random);
    const MultisetHash expected = hash_records_variant(CpuLevel::baseline)(data.get() + shift, count, size);
    EXPECT_EQ(expected.count, count);
    for (const CpuLevel level : records::available_cpu_levels()) {
      EXPECT_EQ(hash_records_variant(level)(data.get() + shift, count, size), expected)
          << to_string(level) << ", record size " << size;
    }
  }
}

TEST(MultisetHash, IgnoresTheOrderOfTheRecordsAndHowTheyAreSplit) {
  std::mt19937_64 random(2);
  for (const std::uint32_t size : {1U, 5U, 8U, 13U, 100U, 1500U}) {
    constexpr std::size_t count = 57;
    const records::Bytes data = records::random_bytes(count * size, random);
    const MultisetHash whole = hash_of(data.get(), count, size);
    std::vector<std::size_t> order(count);
    for (std::size_t i = 0; i < count; ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), random);
    std::vector<std::byte> shuffled(count * size);
    for (std::size_t i = 0; i < count; ++i) std::memcpy(shuffled.data() + i * size, data.get() + order[i] * size, size);
    EXPECT_EQ(hash_of(shuffled.data(), count, size), whole);
    for (std::size_t cut = 0; cut <= count; ++cut) {
      EXPECT_EQ(hash_of(data.get(), cut, size) + hash_of(data.get() + cut * size, count - cut, size), whole);
    }
  }
}

TEST(MultisetHash, IsReadFromItsDigits) {
  const MultisetHash hash{.low = 0x0123456789abcdef, .high = 0xfedcba9876543210, .count = 7};
  EXPECT_EQ(MultisetHash::from_hex(hash.to_hex(), 7), hash);
  for (const char* digits : {"", "0123456789abcdef", "0123456789abcdef0123456789abcdeg", "0123456789abcdef0123456789abcdef0",
                             "0123456789abcdef -23456789abcdef"})
    EXPECT_EQ(MultisetHash::from_hex(digits, 7), std::nullopt) << digits;
}

TEST(MultisetHash, OfNothingIsZero) {
  EXPECT_EQ(hash_of(nullptr, 0, 100), MultisetHash{});
  EXPECT_EQ(MultisetHash{}.to_hex(), std::string(32, '0'));
}

TEST(MultisetHash, ChangesWithEveryFlippedBitAndEveryPairOfThem) {
  std::mt19937_64 random(3);
  for (const std::uint32_t size : {1U, 4U, 8U, 12U, 16U, 31U, 100U}) {
    const records::Bytes record = records::random_bytes(size, random);
    std::set<Bits> seen = {bits_of(record.get(), size)};
    std::size_t variations = 1;
    for (std::size_t i = 0; i < 8 * size; ++i) {
      records::flip_bit(record.get(), i);
      for (std::size_t j = i; j < 8 * size; j += size > 40 ? 5 : 1) {
        if (j != i) records::flip_bit(record.get(), j);
        seen.insert(bits_of(record.get(), size));
        ++variations;
        if (j != i) records::flip_bit(record.get(), j);
      }
      records::flip_bit(record.get(), i);
    }
    EXPECT_EQ(seen.size(), variations) << "record size " << size;
  }
}

TEST(MultisetHash, ChangesWithAFlippedBitAnywhereInALongRecord) {
  std::mt19937_64 random(4);
  for (const std::uint32_t size : {300U, 1023U, 4096U, 1U << 20U}) {
    const records::Bytes record = records::random_bytes(size, random);
    std::set<Bits> seen = {bits_of(record.get(), size)};
    const std::size_t step = std::max<std::size_t>(1, 8 * std::size_t{size} / 1500);
    std::size_t variations = 1;
    for (std::size_t bit = 0; bit < 8 * std::size_t{size}; bit += step, ++variations) {
      records::flip_bit(record.get(), bit);
      seen.insert(bits_of(record.get(), size));
      records::flip_bit(record.get(), bit);
    }
    EXPECT_EQ(seen.size(), variations) << "record size " << size;
  }
}

TEST(MultisetHash, TellsAllRecordsOfOneAndTwoBytesApart) {
  std::set<Bits> seen;
  for (unsigned value = 0; value < 65536; ++value) {
    const std::byte record[2] = {static_cast<std::byte>(value & 255U), static_cast<std::byte>(value >> 8U)};
    seen.insert(bits_of(record, 2));
    if (value < 256) seen.insert(bits_of(record, 1));
  }
  EXPECT_EQ(seen.size(), 65536U + 256U);
}

TEST(MultisetHash, SeesBytesExchangedBetweenTwoRecords) {
  std::mt19937_64 random(5);
  constexpr std::uint32_t size = 100;
  for (int round = 0; round < 2000; ++round) {
    const records::Bytes data = records::random_bytes(2 * size, random);
    const MultisetHash before = hash_of(data.get(), 2, size);
    const std::size_t from = random() % size;
    const std::size_t length = 1 + random() % (size - from);
    if (length == size || std::memcmp(data.get() + from, data.get() + size + from, length) == 0) continue;
    std::swap_ranges(data.get() + from, data.get() + from + length, data.get() + size + from);
    EXPECT_NE(hash_of(data.get(), 2, size), before) << length << " bytes at " << from;
  }
}

TEST(MultisetHash, SeesWordsExchangedInsideARecord) {
  std::mt19937_64 random(6);
  for (const std::uint32_t size : {16U, 100U, 3000U}) {
    const records::Bytes record = records::random_bytes(size, random);
    const Bits before = bits_of(record.get(), size);
    for (int round = 0; round < 500; ++round) {
      const std::size_t i = random() % (size / 4) * 4;
      const std::size_t j = random() % (size / 4) * 4;
      if (i == j) continue;
      std::swap_ranges(record.get() + i, record.get() + i + 4, record.get() + j);
      EXPECT_NE(bits_of(record.get(), size), before) << i << " and " << j;
      std::swap_ranges(record.get() + i, record.get() + i + 4, record.get() + j);
    }
  }
}

TEST(MultisetHash, SeesALostADoubledAndAReplacedRecord) {
  std::mt19937_64 random(7);
  constexpr std::uint32_t size = 100;
  constexpr std::size_t count = 20;
  const records::Bytes data = records::random_bytes(count * size, random);
  const MultisetHash before = hash_of(data.get(), count, size);
  EXPECT_NE(hash_of(data.get(), count - 1, size), before);
  EXPECT_NE(before + hash_of(data.get(), 1, size), before);
  std::memcpy(data.get(), data.get() + size, size);
  const MultisetHash replaced = hash_of(data.get(), count, size);
  EXPECT_EQ(replaced.count, before.count);
  EXPECT_NE(replaced.low, before.low);
  EXPECT_NE(replaced.high, before.high);
}

TEST(MultisetHash, DependsOnTheRecordSize) {
  const std::vector<std::byte> zeros(4096);
  std::set<Bits> seen;
  for (std::uint32_t size = 1; size <= 4096; ++size) seen.insert(bits_of(zeros.data(), size));
  EXPECT_EQ(seen.size(), 4096U);
}

// Share of changed output bits over `samples` random records per flipped input bit, as the worst distance from one half.
double worst_avalanche_bias(std::uint32_t size, std::size_t input_bit_step, int samples, std::mt19937_64& random) {
  double worst = 0;
  for (std::size_t bit = 0; bit < 8 * std::size_t{size}; bit += input_bit_step) {
    int changes[128] = {};
    for (int sample = 0; sample < samples; ++sample) {
      const records::Bytes record = records::random_bytes(size, random);
      const auto [low, high] = bits_of(record.get(), size);
      records::flip_bit(record.get(), bit);
      const auto [other_low, other_high] = bits_of(record.get(), size);
      for (unsigned i = 0; i < 64; ++i) {
        changes[i] += static_cast<int>((low ^ other_low) >> i & 1U);
        changes[64 + i] += static_cast<int>((high ^ other_high) >> i & 1U);
      }
    }
    for (const int change : changes) worst = std::max(worst, std::abs(change / double(samples) - 0.5));
  }
  return worst;
}

TEST(MultisetHash, FlipsEveryOutputBitHalfTheTimeForEveryInputBit) {
  std::mt19937_64 random(8);
  constexpr int samples = 3000;
  // Seven standard deviations of a fair coin: 10^4 to 10^5 cells are looked at.
  const double tolerance = 7 * 0.5 / std::sqrt(samples);
  EXPECT_LT(worst_avalanche_bias(4, 1, samples, random), tolerance);
  EXPECT_LT(worst_avalanche_bias(16, 3, samples, random), tolerance);
  EXPECT_LT(worst_avalanche_bias(100, 13, samples, random), tolerance);
}

TEST(MultisetHash, SpreadsConsecutiveNumbersEvenlyOverEachByteOfTheHash) {
  constexpr std::uint32_t records = 1U << 16U;
  std::vector<std::array<int, 256>> buckets(16);
  for (std::uint32_t number = 0; number < records; ++number) {
    std::byte record[10] = {};
    std::memcpy(record + 6, &number, sizeof number);
    const auto [low, high] = bits_of(record, sizeof record);
    for (unsigned i = 0; i < 8; ++i) {
      ++buckets[i][low >> (8 * i) & 255U];
      ++buckets[8 + i][high >> (8 * i) & 255U];
    }
  }
  for (const auto& counts : buckets) {
    double chi_squared = 0;
    for (const int count : counts) chi_squared += (count - 256.0) * (count - 256.0) / 256.0;
    EXPECT_NEAR(chi_squared, 255, 6 * std::sqrt(2 * 255.0));  // six standard deviations
  }
}

}  // namespace
}  // namespace ecosort::hash
