#include "run/shared_key.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "cpp/engine/fixed/run_layout.h"
#include "cpp/formats/records/test_support.h"

namespace ecosort::run {
namespace {

using records::Bytes;
using records::Encoder;

// In the order of their keys.
std::vector<const std::byte*> sorted_pointers(const Encoder& encoder, const std::vector<Bytes>& records) {
  std::vector<const std::byte*> pointers;
  for (const Bytes& record : records) pointers.push_back(record.get());
  std::ranges::sort(pointers, [&](const std::byte* a, const std::byte* b) { return encoder.compare(a, b) < 0; });
  return pointers;
}

// Runs that agree in fewer and fewer bytes: keys predicted before are moved to where all agree.
TEST(SharedKey, MovesForecastKeysExactly) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 2000; ++round) {
    const auto length = static_cast<std::uint32_t>(13 + random() % 60);
    const std::string type = random() % 2 == 0 ? ":desc" : random() % 2 == 0 ? ":nocase" : "";
    const Encoder encoder(records::make_record_format(length + 3, {"2:" + std::to_string(length) + type}));
    const auto reference = records::random_bytes(length + 3, random);
    SharedKey shared;
    std::vector<std::pair<Bytes, ForecastKey>> predicted;
    for (std::uint64_t run = 0, common = length; run < 4; ++run) {
      common = random() % (common + 1);
      std::vector<Bytes> pair;
      for (int i = 0; i < 2; ++i) {
        pair.push_back(records::random_bytes(length + 3, random));
        std::copy_n(reference.get(), 2 + common, pair.back().get());
      }
      const std::uint64_t before = shared.take_in(encoder, sorted_pointers(encoder, pair));
      ASSERT_LE(shared.depth(), before);
      for (auto& [record, key] : predicted) key = shared.moved(encoder, key, before);
      for (Bytes& record : pair) {
        const ForecastKey key = shared.key_of(encoder, record.get());
        predicted.emplace_back(std::move(record), key);
      }
      for (const auto& [record, key] : predicted) {
        ASSERT_EQ(key, shared.key_of(encoder, record.get()));
        ASSERT_GE(encoder.common_key_bytes(record.get(), predicted.front().first.get(), 0), shared.depth());
      }
    }
    const std::uint64_t before = shared.take_in_unknown();
    ASSERT_EQ(shared.depth(), 0U);
    for (const auto& [record, key] : predicted) {
      const ForecastKey expected{encoder.prefix(record.get()), encoder.extension(record.get()), key.place};
      ASSERT_EQ(shared.moved(encoder, key, before), expected);
    }
  }
}

TEST(SharedKey, StaysAtTheBeginningWhereTwelveBytesDecide) {
  const Encoder encoder(records::make_record_format(100, {}));
  const std::vector<std::byte> record(100);
  SharedKey shared;
  EXPECT_EQ(shared.sample_size(encoder), 2U);
  EXPECT_EQ(shared.take_in(encoder, std::vector{record.data(), record.data()}), 0U);
  EXPECT_EQ(shared.depth(), 0U);
  EXPECT_EQ(shared.key_of(encoder, record.data()), ForecastKey());
}

// Few symbols and a long key: many ties in the first twelve bytes, some of whole keys.
TEST(SharedKey, PredictsInTheOrderOfTheKeys) {
  std::mt19937_64 random(6);
  for (int round = 0; round < 300; ++round) {
    const std::size_t alike = random() % 3 * 7;  // bytes; all records begin with them
    const auto length = static_cast<std::uint32_t>(alike + 13 + random() % 20);
    const Encoder encoder(records::make_record_format(length, {"0:" + std::to_string(length) + (round % 2 == 0 ? ":desc" : "")}));
    const auto make = [&](std::size_t count) {
      std::vector<Bytes> records;
      for (std::size_t i = 0; i < count; ++i) {
        records.push_back(records::random_bytes(length, random, 2));
        std::fill_n(records.back().get(), alike, std::byte{9});
        std::fill_n(records.back().get() + alike + random() % 2, 12, std::byte{7});
      }
      return records;
    };
    const std::vector<Bytes> first_run = make(1 + random() % 30), others = make(40);
    SharedKey shared;
    shared.take_in(encoder, sorted_pointers(encoder, first_run));
    const std::vector<const std::byte*> second_run = sorted_pointers(encoder, others);
    shared.take_in(encoder, std::vector{second_run.front(), second_run.back()});
    ASSERT_GE(shared.depth(), alike);
    for (const Bytes& a : others) {
      const ForecastKey key = shared.key_of(encoder, a.get());
      ASSERT_EQ(key.place, std::ranges::count_if(first_run, [&](const Bytes& sample_key) {
                  return encoder.compare(sample_key.get(), a.get()) <= 0;
                }));
      for (const Bytes& b : others) {
        const ForecastKey other = shared.key_of(encoder, b.get());
        ASSERT_EQ(shared.compare(encoder, b.get(), key), other <=> key);
        const int order = encoder.compare(a.get(), b.get());
        ASSERT_TRUE(order < 0 ? key <= other : order > 0 ? key >= other : key == other);
      }
    }
  }
}

// A run of which nothing was known has no places: those of later runs would not compare with them.
TEST(SharedKey, HasNoPlacesBehindAnUnknownRun) {
  std::mt19937_64 random(7);
  const Encoder encoder(records::make_record_format(20, {"0:20"}));
  std::vector<Bytes> run;
  for (int i = 0; i < 9; ++i) run.push_back(records::random_bytes(20, random));
  SharedKey unknown_first, known_first;
  unknown_first.take_in_unknown();
  EXPECT_EQ(unknown_first.sample_size(encoder), 2U);
  EXPECT_EQ(known_first.sample_size(encoder), KeySample::most(20));
  const std::vector<const std::byte*> sorted = sorted_pointers(encoder, run);
  unknown_first.take_in(encoder, sorted);
  known_first.take_in(encoder, sorted);
  known_first.take_in_unknown();
  EXPECT_EQ(known_first.sample_size(encoder), 2U);
  for (std::uint32_t i = 0; i < sorted.size(); ++i) {
    EXPECT_EQ(unknown_first.key_of(encoder, sorted[i]).place, 0U);
    EXPECT_EQ(known_first.key_of(encoder, sorted[i]).place, i + 1);
  }
}

TEST(KeySample, TakeNoMoreMemoryForLongRecords) {
  EXPECT_EQ(KeySample::most(100), 1024U);
  EXPECT_EQ(KeySample::most(1024), 256U);
  EXPECT_EQ(KeySample::most(1U << 20U), 0U);
  constexpr std::uint32_t size = 1U << 20U;
  const Encoder encoder(records::make_record_format(size, {"0:20"}));
  const std::vector<std::byte> record(size);
  KeySample key_sample;
  key_sample.choose(encoder, std::vector{record.data(), record.data()});
  EXPECT_EQ(key_sample.place_of(encoder, record.data()), 0U) << "none were kept";
}

}  // namespace
}  // namespace ecosort::run
