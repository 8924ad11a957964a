// The drive of the scale test, without its file system: records by their numbers, and whatever else a sort writes.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/random.h"
#include "scale/drive_store.h"
#include "scale/numbered_rows.h"

namespace ecosort::scale {

namespace {

using Bytes = std::vector<std::byte>;

Bytes made_by_the_generator(std::uint64_t first, std::size_t count) {
  Bytes bytes(count * record_bytes);
  sortbenchmark::GensortRecords({.ascii = true}, first).generate(bytes.data(), count);
  return bytes;
}

// Writes what a sort writes: records of any order, in order, zeros, other bytes; from any place on.
void fill(Random& random, std::span<std::byte> bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t part = std::min<std::size_t>(1 + random.below(random.below(3) == 0 ? 200'000 : 700), bytes.size() - at);
    const std::span<std::byte> now = bytes.subspan(at, part);
    const std::uint64_t far = std::uint64_t{1} << random.below(44);
    switch (random.below(5)) {
      case 0:
        std::ranges::fill(now, std::byte{0});
        break;
      case 1:
        make_bytes(random.below(far * record_bytes / 4 + 1), now.size(), now.data());
        break;
      case 2:
        for (std::byte& byte : now.first(std::min<std::size_t>(now.size(), random.below(2) == 0 ? 50 : 9'000)))
          byte = static_cast<std::byte>(random.below(256));
        break;
      default:
        for (std::size_t i = 0; i + record_bytes <= now.size(); i += record_bytes)
          make_records(std::array{random.below(far / 2 + 1)}, now.data() + i);
    }
    at += part;
  }
}

}  // namespace

TEST(RecordDrive, MakesTheRecordsOfTheGeneratorAndKnowsTheirNumbers) {
  for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{2'000}, std::uint64_t{4'399'999'990}, most_records - 3}) {
    const Bytes right = made_by_the_generator(first, 3);
    Bytes record(record_bytes), bytes(2 * record_bytes);
    std::array<std::uint64_t, 1> number{};
    for (std::uint64_t i = 0; i < 3; ++i) {
      make_records(std::array{first + i}, record.data());
      EXPECT_TRUE(std::ranges::equal(record, std::span(right).subspan(i * record_bytes, record_bytes))) << first + i;
      EXPECT_EQ(numbers_of(record, number), 1U);
      EXPECT_EQ(number[0], first + i);
      for (std::size_t at = 0; at < record_bytes; ++at) {
        record[at] ^= std::byte{1};
        EXPECT_EQ(numbers_of(record, number), 0U) << first + i << ", byte " << at;
        record[at] ^= std::byte{1};
      }
    }
    make_bytes(first * record_bytes + 37, bytes.size(), bytes.data());
    EXPECT_TRUE(std::ranges::equal(bytes, std::span(right).subspan(37, bytes.size())));
  }
}

TEST(RecordDrive, FindsRecordsUpToTheFirstThatIsNone) {
  constexpr std::size_t count = 200;
  Bytes bytes = made_by_the_generator(7, count);
  std::array<std::uint64_t, count + 1> numbers{};
  ASSERT_EQ(numbers_of(bytes, numbers), count);
  for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(numbers[i], 7 + i);
  EXPECT_EQ(numbers_of(std::span(bytes).first(150), numbers), 1U);
  EXPECT_EQ(numbers_of(bytes, std::span(numbers).first(65)), 65U);
  for (const std::size_t bad : {0U, 63U, 64U, 130U, 199U}) {
    bytes[bad * record_bytes + 99] ^= std::byte{1};
    EXPECT_EQ(numbers_of(bytes, numbers), bad);
    bytes[bad * record_bytes + 99] ^= std::byte{1};
  }
}

TEST(RecordDrive, GivesBackWhatWasWritten) {
  constexpr std::size_t size = 40 * unit_bytes;
  DriveStore store(testing::TempDir(), size + 1);
  Random random(1);
  Bytes model(size), piece, got(size);
  EXPECT_EQ(store.size_bytes(), size);
  for (int step = 0; step < 300; ++step) {
    const std::size_t from = random.below(size) / 512 * 512,
                      part = std::min<std::size_t>((1 + random.below(600)) * 512, size - from);
    const auto at = model.begin() + static_cast<std::ptrdiff_t>(from);
    if (random.below(5) == 0) {
      store.clear(from, part);
      std::fill_n(at, part, std::byte{0});
      continue;
    }
    piece.assign(part, std::byte{0});
    fill(random, piece);
    store.write(from, piece);
    std::ranges::copy(piece, at);
    piece.assign(part, std::byte{1});
    store.read(from, piece);
    ASSERT_TRUE(std::equal(piece.begin(), piece.end(), at)) << "step " << step;
  }
  store.read(0, got);
  EXPECT_EQ(got, model);
  store.clear(0, size);
  EXPECT_LE(store.real_bytes(), 4096U);  // the last slot may end within a page
}

TEST(RecordDrive, RecordsTakeLessThanATwentiethOfTheirSize) {
  constexpr std::size_t size = 64 * unit_bytes;
  constexpr std::uint64_t records = 10'000'000'000;
  for (const Keys keys : {Keys::uniform, Keys::skewed}) {
    DriveStore store(testing::TempDir(), size, records);
    Random random(2);
    Bytes bytes(size), got(size);
    for (std::size_t at = 0; at + record_bytes <= size; at += record_bytes)
      make_records(std::array{random.below(records)}, bytes.data() + at, keys);
    store.write(0, bytes);
    EXPECT_GT(store.real_bytes(), 0U);
    EXPECT_LE(store.real_bytes(), size / 20);
    store.read(0, got);
    EXPECT_EQ(got, bytes);
    make_bytes(12'345, size, bytes.data(), keys);
    store.write(0, bytes);
    store.clear(0, unit_bytes);
    store.read(0, got);
    EXPECT_TRUE(std::equal(got.begin() + unit_bytes, got.end(), bytes.begin() + unit_bytes));
  }
}

TEST(RecordDrive, MakesTheSkewedRecordsOfTheGenerator) {
  constexpr std::uint64_t first = 77'777'777;
  Bytes right(20 * record_bytes), got(right.size());
  sortbenchmark::GensortRecords({.ascii = true, .skewed = true}, first).generate(right.data(), 20);
  make_bytes(first * record_bytes, got.size(), got.data(), Keys::skewed);
  EXPECT_EQ(got, right);
  EXPECT_NE(got, made_by_the_generator(first, 20));
}

TEST(RecordDrive, RowsAreTheSameWhereverTheirReadingBegins) {
  const NumberedRows rows(3 * NumberedRows::least_bytes);
  Bytes all(rows.size_bytes()), part;
  rows.make(0, all.size(), all.data());
  EXPECT_EQ(static_cast<char>(all.back()), '\n');
  Random random(3);
  for (int i = 0; i < 200; ++i) {
    const std::size_t from = random.below(all.size()), size = random.below(std::min<std::size_t>(all.size() - from, 5'000) + 1);
    part.assign(size, std::byte{1});
    rows.make(from, size, part.data());
    ASSERT_TRUE(std::equal(part.begin(), part.end(), all.begin() + static_cast<std::ptrdiff_t>(from))) << from << ", " << size;
  }
}

}  // namespace ecosort::scale
