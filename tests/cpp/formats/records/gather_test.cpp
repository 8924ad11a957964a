#include "formats/records/gather.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "cpp/formats/records/test_support.h"

namespace ecosort::records {
namespace {

TEST(Gather, CopiesEachRecordToThePlaceOfItsEntry) {
  std::mt19937_64 random(1);
  for (const std::uint32_t size : {1U, 3U, 8U, 16U, 31U, 63U, 64U, 65U, 99U, 100U, 101U, 128U, 200U, 1000U, 5000U}) {
    for (const std::size_t n : {0UL, 1UL, 2UL, 15UL, 16UL, 17UL, 100UL, 1000UL}) {
      const Bytes records = random_bytes(n * size, random);
      std::vector<sorting::Entry> entries(n);
      for (std::uint32_t i = 0; i < n; ++i) entries[i].index = i;
      std::shuffle(entries.begin(), entries.end(), random);
      const std::size_t shift = random() % 64;
      const auto out = std::make_unique<std::byte[]>(shift + n * size);
      gather(entries.data(), n, RecordTable(records.get(), size), out.get() + shift);
      for (std::size_t i = 0; i < n; ++i) {
        ASSERT_EQ(std::memcmp(out.get() + shift + i * size, records.get() + entries[i].index * std::size_t{size}, size), 0)
            << "record size " << size << ", record " << i << " of " << n;
      }
    }
  }
}

TEST(Gather, WritesOnlyItsRecords) {
  std::mt19937_64 random(2);
  for (const std::uint32_t size : {7U, 100U, 300U}) {
    constexpr std::uint32_t n = 40;
    const Bytes records = random_bytes(n * size, random);
    std::vector<sorting::Entry> entries(n);
    for (std::uint32_t i = 0; i < n; ++i) entries[i].index = (i * 7) % n;
    std::vector<std::byte> out((n + 2) * std::size_t{size}, std::byte{0x5a});
    gather(entries.data(), n, RecordTable(records.get(), size), out.data() + size);
    const auto untouched = [](std::byte byte) { return byte == std::byte{0x5a}; };
    EXPECT_TRUE(std::all_of(out.begin(), out.begin() + size, untouched));
    EXPECT_TRUE(std::all_of(out.end() - size, out.end(), untouched));
  }
}

}  // namespace
}  // namespace ecosort::records
