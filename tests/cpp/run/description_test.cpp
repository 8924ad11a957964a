// The description of a run comes back, and nothing that was changed, foreign or cut off is taken for it.
#include "run/description.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "base/errors.h"
#include "hash/block_checksum.h"
#include "run/described_block.h"

namespace ecosort::run {
namespace {

using testing::HasSubstr;

constexpr std::size_t checksum_bytes = 8, size_at = 16;

Description of_records() {
  Description d;
  d.direction = Direction::backward;
  d.head_bytes = 4096;
  d.block_bytes = 8192;
  d.record_size = 100;
  d.job = 77;
  d.run = 3;
  d.position = 2;
  d.of = 6;
  d.bytes = 100'000;
  d.hash = {5, 6, 1'000};
  d.order = std::vector<std::byte>(20, std::byte{9});
  return d;
}

Description of_rows() {
  Description d = of_records();
  d.format = Format::csv;
  d.direction = Direction::forward;
  d.record_size = 0;
  d.of = 0;
  d.span = 4;
  d.longest = 70;
  d.is_unique = d.follows_header = true;
  d.first_row = "a,b\r";
  return d;
}

std::uint64_t number_at(const std::vector<std::byte>& bytes, std::size_t at) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

void put(std::vector<std::byte>& bytes, std::size_t at, std::uint64_t value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

// Makes a checksum that is right for what is there.
void seal(std::vector<std::byte>& bytes) {
  const std::size_t checked = number_at(bytes, size_at) - checksum_bytes;
  put(bytes, checked, hash::block_checksum(bytes.data(), checked, number_at(bytes, 0)));
}

std::string refusal_of(const std::vector<std::byte>& bytes) {
  try {
    (void)decode_description(bytes, "the_run");
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the_run"));
    return error.what();
  }
  return "";
}

bool are_equal(const Description& a, const Description& b) { return encode(a) == encode(b); }

}  // namespace

TEST(Description, ComesBack) {
  for (const Description& d : {of_records(), of_rows()}) {
    const std::vector<std::byte> bytes = encode(d);
    EXPECT_EQ(bytes.size(), d.head_bytes);
    const Description back = decode_description(bytes, "run");
    EXPECT_TRUE(are_equal(back, d));
    EXPECT_EQ(back.first_row, d.first_row);
    EXPECT_EQ(back.is_unique, d.is_unique);
    EXPECT_EQ(back.follows_header, d.follows_header);
    EXPECT_EQ(back.order, d.order);
    EXPECT_EQ(back.position, d.position);
    EXPECT_EQ(back.hash.count, d.hash.count);
  }
}

TEST(Description, AnyBitOfItThatChangedIsNoticed) {
  for (const Description& d : {of_records(), of_rows()}) {
    const std::vector<std::byte> bytes = encode(d);
    for (std::size_t at = 0; at < number_at(bytes, size_at); ++at) {
      std::vector<std::byte> changed = bytes;
      changed[at] ^= std::byte{0x10};
      EXPECT_NE(refusal_of(changed), "") << "byte " << at;
    }
  }
}

TEST(Description, SaysWhatIsWrong) {
  const std::vector<std::byte> bytes = encode(of_records());
  EXPECT_THAT(refusal_of(std::vector<std::byte>(4096)), HasSubstr("no run of a job"));
  EXPECT_THAT(refusal_of({}), HasSubstr("no run of a job"));
  std::vector<std::byte> other = bytes;
  put(other, 8, 1);
  seal(other);
  EXPECT_EQ(refusal_of(other), "") << "one without truncated rows, of the version before";
  put(other, 8, 3);
  seal(other);
  EXPECT_THAT(refusal_of(other), HasSubstr("format version 3"));
  other = bytes;
  put(other, 80, 78);  // the job
  EXPECT_THAT(refusal_of(other), HasSubstr("damaged"));
  for (std::size_t size = 24; size < number_at(bytes, size_at); size += 7)
    EXPECT_THAT(refusal_of({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)}), HasSubstr("damaged"));
}

TEST(Description, NumbersThatContradictEachOtherAreRefusedBehindARightChecksum) {
  struct Wrong {
    std::size_t at;
    std::uint64_t value;
  };
  for (const Wrong wrong : std::vector<Wrong>{{24, 0},           {24, 4097},        {24, most_head_bytes + 4096},
                                              {32, 0},           {32, 5},           {40, 2},
                                              {48, 1},           {56, 1},           {56, 16},
                                              {64, 0},           {64, 99},          {64, 1U << 21U},
                                              {72, 0},           {72, 100},         {72, std::uint64_t{1} << 40U},
                                              {96, 6},           {96, UINT64_MAX},  {104, 0},
                                              {104, UINT64_MAX}, {112, 2},          {120, 0},
                                              {120, 99'900},     {120, UINT64_MAX}, {152, 999},
                                              {160, 19},         {160, UINT64_MAX}}) {
    std::vector<std::byte> bytes = encode(of_records());
    put(bytes, wrong.at, wrong.value);
    seal(bytes);
    EXPECT_NE(refusal_of(bytes), "") << wrong.value << " at byte " << wrong.at;
  }
}

TEST(Description, SaysWhereBlocksLie) {
  Description d = of_records();  // 81 records in a block
  EXPECT_EQ(d.blocks(), 13U);
  EXPECT_EQ(d.file_bytes(), 4096U + 13 * 8192);
  EXPECT_EQ(d.place_of(0, 1), 4096U + 12 * 8192);
  EXPECT_EQ(d.place_of(10, 3), 4096U);
  EXPECT_EQ(d.used_bytes(0), 8'100U);
  EXPECT_EQ(d.used_bytes(12), 2'800U);
  d = of_rows();
  EXPECT_EQ(d.place_of(1, 2), 4096U + 8192);
  EXPECT_EQ(d.used_bytes(0), 8'176U);
  EXPECT_EQ(d.used_bytes(12), 100'000U - 12 * 8'176);
}

namespace {

// 13 blocks of two pages, of which every other one is packed into one.
Description of_packed() {
  Description d = of_records();
  d.direction = Direction::forward;
  d.codec = codec::BlockCodec::lz4;
  for (std::uint32_t block = 0, end = 0; block < 13; ++block) d.ends.push_back(end += block % 2 == 0 ? 1 : 2);
  d.stored_bytes = d.ends.back() * page_bytes;
  return d;
}

std::optional<Description> back(const Description& d) {
  try {
    return decode_description(encode(d), "run");
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

}  // namespace

TEST(Description, SaysWherePackedBlocksLie) {
  const Description d = of_packed();
  EXPECT_EQ(d.place_of(0, 3), 4096U);
  EXPECT_EQ(d.bytes_of(0, 3), 4 * page_bytes);
  EXPECT_EQ(d.place_of(5, 1), 4096U + 7 * page_bytes);
  EXPECT_EQ(d.bytes_of(5, 1), 2 * page_bytes);
  EXPECT_EQ(d.places_at(), 4096U + 19 * page_bytes);
  EXPECT_EQ(d.file_bytes(), 4096U + 20 * page_bytes);
  Description told = back(d).value();
  EXPECT_EQ(told.codec, codec::BlockCodec::lz4);
  EXPECT_EQ(told.stored_bytes, d.stored_bytes);
  EXPECT_TRUE(told.ends.empty()) << "they are behind the blocks";
  const std::vector<std::byte> table = encode_places(d.ends, run_seed(d.job, d.run));
  take_places(told, "run", table);
  EXPECT_EQ(told.ends, d.ends);
  EXPECT_THROW(take_places(told, "run", encode_places(d.ends, run_seed(d.job, d.run + 1))), DamagedRun);
}

TEST(Description, PackedBlocksThatCannotBeAreRefused) {
  for (const std::uint64_t stored : {12U, 26U, 1'000U}) {
    Description d = of_packed();
    d.stored_bytes = stored * page_bytes;
    EXPECT_FALSE(back(d)) << stored << " pages of 13 blocks, which take 13 to 25";
  }
  Description d = of_packed();
  d.stored_bytes += 1;
  EXPECT_FALSE(back(d));
  d = of_packed();
  d.direction = Direction::backward;
  EXPECT_FALSE(back(d));
}

TEST(Description, ABlockIsOfThisRunAndPlaceAndHoldsWhatItShould) {
  const Description d = of_rows();
  std::vector<std::byte> block(d.block_bytes, std::byte{7});
  const auto sealed = [&](std::uint64_t job, std::uint64_t run, std::uint64_t at, BlockContents contents) {
    seal_block(block.data(), block.size(), run_seed(job, run) + at, contents);
    try {
      open_block(d, "run", 2, block.data(), block.data(), nullptr);
      return true;
    } catch (const DamagedRun&) {
      return false;
    }
  };
  EXPECT_TRUE(sealed(77, 3, 2, {8'176, 5}));
  EXPECT_FALSE(sealed(78, 3, 2, {8'176, 5}));
  EXPECT_FALSE(sealed(77, 4, 2, {8'176, 5}));
  EXPECT_FALSE(sealed(77, 3, 3, {8'176, 5}));
  EXPECT_FALSE(sealed(77, 3, 2, {8'175, 5}));
  EXPECT_FALSE(sealed(77, 3, 2, {8'176, 8'177}));
}

TEST(Description, IsRefusedBeforeTheJobWhereItIsTooLong) {
  EXPECT_EQ(head_bytes_for(100, 50, 4096), 4096U);
  EXPECT_EQ(head_bytes_for(100, 5'000, 16'384), 16'384U);
  EXPECT_THROW((void)head_bytes_for(100, most_head_bytes, 4096), UsageError);
}

}  // namespace ecosort::run
