// The tests of plain and of typed keys ask the same of an encoder.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "formats/records/encoder.h"

namespace ecosort::records {

inline int sign(int value) { return (value > 0) - (value < 0); }

// The bytes of a key from there as a number; behind its end there are zeros.
inline std::uint64_t number_from(const std::vector<std::uint8_t>& key, std::uint64_t at, unsigned bytes) {
  std::uint64_t number = 0;
  for (std::uint64_t i = at; i < at + bytes; ++i) number = number << 8U | (i < key.size() ? key[i] : 0U);
  return number;
}

// The leading bytes of two records never contradict their order, and decide it where the encoder says so.
inline void check_leading_bytes(const Encoder& encoder, const std::byte* a, const std::byte* b, int order) {
  const auto leading = [&](const std::byte* record) { return std::pair(encoder.prefix(record), encoder.extension(record)); };
  if (order < 0) {
    ASSERT_LE(leading(a), leading(b));
  }
  if (encoder.decides()) {
    ASSERT_EQ(leading(a) == leading(b), order == 0);
  }
  if (encoder.prefix_decides()) {
    ASSERT_EQ(encoder.prefix(a) == encoder.prefix(b), order == 0);
  }
}

// Extracted entries are what the encoder reads of each record, with its index.
inline void check_extract(const Encoder& encoder, std::size_t record_size, const std::byte* records, std::uint32_t count) {
  constexpr std::uint32_t first = 1000;
  std::vector<sorting::Entry> entries(count);
  extract(encoder, records, count, first, entries.data());
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::byte* record = records + i * record_size;
    ASSERT_EQ(entries[i].prefix, encoder.prefix(record));
    ASSERT_EQ(entries[i].extension, encoder.extension(record));
    ASSERT_EQ(entries[i].index, first + i);
  }
}

}  // namespace ecosort::records
