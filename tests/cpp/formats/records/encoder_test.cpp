#include "formats/records/encoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/errors.h"
#include "cpp/formats/records/encoder_checks.h"
#include "cpp/formats/records/test_support.h"

namespace ecosort::records {
namespace {

// The key spelled out byte by byte, descending fields complemented: what the encoder must agree with.
std::vector<std::uint8_t> spelled_key(const RecordFormat& format, const std::byte* record) {
  std::vector<std::uint8_t> key;
  for (const RecordKey& field : format.keys) {
    for (std::uint32_t i = 0; i < field.length; ++i) {
      const auto byte = std::to_integer<std::uint8_t>(record[field.offset + i]);
      key.push_back(field.descends ? static_cast<std::uint8_t>(~byte) : byte);
    }
  }
  return key;
}

RecordFormat random_format(std::mt19937_64& random) {
  RecordFormat format;
  format.record_size = static_cast<std::uint32_t>(1 + random() % (random() % 2 == 0 ? 24 : 200));
  format.keys.clear();
  for (std::uint64_t fields = 1 + random() % 4 / 2 * (random() % 3); fields > 0; --fields) {
    const auto offset = static_cast<std::uint32_t>(random() % format.record_size);
    format.keys.push_back({offset, static_cast<std::uint32_t>(1 + random() % (format.record_size - offset)), random() % 3 == 0});
  }
  return format;
}

void check_record(const RecordFormat& format, const Encoder& encoder, const std::byte* record, std::uint64_t skip) {
  const auto key = spelled_key(format, record);
  ASSERT_EQ(encoder.key_length(), key.size());
  ASSERT_EQ(encoder.prefix(record), number_from(key, 0, 8));
  ASSERT_EQ(encoder.extension(record), number_from(key, 8, 4));
  const KeyWindow window = encoder.window(record, skip);
  ASSERT_EQ(window.prefix, number_from(key, skip, 8));
  ASSERT_EQ(window.extension, number_from(key, skip + 8, 4));
}

void check_pair(const RecordFormat& format, const Encoder& encoder, const std::byte* a, const std::byte* b) {
  const auto key_a = spelled_key(format, a);
  const auto key_b = spelled_key(format, b);
  const int expected = key_a < key_b ? -1 : key_a > key_b ? 1 : 0;
  ASSERT_EQ(sign(encoder.compare(a, b)), expected);
  const auto same = static_cast<std::uint64_t>(std::mismatch(key_a.begin(), key_a.end(), key_b.begin()).first - key_a.begin());
  for (std::uint64_t skip = 0; skip <= same; ++skip) ASSERT_EQ(encoder.common_key_bytes(a, b, skip), same);
  check_leading_bytes(encoder, a, b, expected);
}

TEST(Encoder, AgreesWithTheKeySpelledOutForAnyFormat) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 3000; ++round) {
    const RecordFormat format = random_format(random);
    const Encoder encoder(format);
    const auto a = random_bytes(format.record_size, random, 2 + random() % 2 * 253);
    const auto b = random_bytes(format.record_size, random, 2 + random() % 2 * 253);
    if (random() % 2 == 0) std::copy_n(a.get(), random() % (format.record_size + 1), b.get());
    check_record(format, encoder, a.get(), random() % (encoder.key_length() + 13));
    check_pair(format, encoder, a.get(), b.get());
    if (HasFatalFailure())
      FAIL() << "round " << round << " record size " << format.record_size << " key " << to_string(format.keys[0]);
  }
}

TEST(Encoder, SaysWhenTheTwelveBytesDecide) {
  const auto encoder_of = [](std::uint32_t length) { return Encoder({.record_size = 100, .keys = {{0, length}}}); };
  EXPECT_TRUE(encoder_of(8).prefix_decides());
  EXPECT_FALSE(encoder_of(9).prefix_decides());
  EXPECT_TRUE(encoder_of(12).decides());
  EXPECT_FALSE(encoder_of(13).decides());
  EXPECT_FALSE(Encoder({.record_size = 100, .keys = {{0, 12}, {20, 1}}}).decides());
}

TEST(Encoder, RefusesAKeyBeyondTheRecord) { EXPECT_THROW(Encoder({.record_size = 9, .keys = {{0, 10}}}), UsageError); }

TEST(Extract, GivesTheEntryOfEveryRecordWithItsIndex) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 300; ++round) {
    const RecordFormat format = round == 0 ? RecordFormat{} : random_format(random);
    const Encoder encoder(format);
    const auto count = static_cast<std::uint32_t>(random() % 70);
    const auto records = random_bytes(count * format.record_size, random);
    check_extract(encoder, format.record_size, records.get(), count);
  }
}

}  // namespace
}  // namespace ecosort::records
