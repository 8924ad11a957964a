// Vectors of the Sort Benchmark's own generator (records, CRCs and checksums are facts about gensort 1.5).
#include "sortbenchmark/gensort.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sortbenchmark/valsort_crc.h"

namespace ecosort::sortbenchmark {
namespace {

using Bytes = std::vector<std::byte>;

constexpr GensortFormat binary{}, ascii{.ascii = true}, skewed_binary{.skewed = true},
    skewed_ascii{.ascii = true, .skewed = true};

Bytes make_records(GensortFormat format, uint128 first, std::size_t count) {
  Bytes records(count * gensort_record_bytes);
  GensortRecords(format, first).generate(records.data(), count);
  return records;
}

std::string to_hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return text;
}

struct Vector {
  GensortFormat format;
  uint128 number;
  std::uint32_t crc;
  std::string begins_with;  // the whole record, or its key
};
void PrintTo(const Vector& vector, std::ostream* out) {
  *out << "record " << to_decimal(vector.number) << (vector.format.ascii ? " ascii" : " binary")
       << (vector.format.skewed ? " skewed" : "");
}

const Vector vectors[] = {
    {binary, 0, 0x9ea593a0,
     "4a696d4772617952495065080060836b392cd58b8f5e55961855e79b87f02283a466b6aab1f9e0cacf1e26b3292afd1064bb"
     "18b56ac07d6f656b1d2f430d57bde7e47d81f36a6dd267948bbc2397bfe28c334e4ad82b8e70166293cfaa0116bfda3bb1ab"},
    {binary, 1, 0xe5294e1f,
     "95e0e48262b3edfe0447b57f77b13a3587fbe79042e3c406d68e9fd2c7f3f6390d9d0dce13fb8342e152812e994b4b403a16"
     "7a2a7c93c3841de1930a0db207f4eb9e04b59ed877d9a1a067a101fa8d8d4c045beea3006fb42050a4e65bb3cc4083ebb2ad"},
    {binary, 2, 0x10027d62,
     "45979353dbed5329365c78c2e621f4eeffb2a79396596dfd6dea3dd0a47bd875aa00bdafa5abddef83cd977d27a033cab433"
     "34952cdacffe64d5feb817b9c1c0078326d8acb7b7eeb4041c8ae03ebbbf7b2daa5c79ff36642356eff9714dd020220b829e"},
    {binary, 1'000'000'000, 0xec7d8ae8,
     "46df6d7a85582021cfd7151b6c6b57d31b614f9948f2975cc45d3c52037fa87ad318a57147042ed83c697d43840437f8d44c"
     "d698025d039f6d58dd7cc98cdb68f7fb13c3296c9564556e5f5ca0e1c3fa8d417ad2469accd1b854a4e9b06c0f539a0e8fba"},
    {binary, uint128{1} << 60, 0xb01e4f32,
     "978f337f2a0ce4e5f950699028923090c33ea58b9b645b6f8801b4bfd7f0ec0817ba8d79d198f0ca2f972f524b418210b4bb"
     "661eaae4f972d3d8ed2f3c86b4ce95e4def8c36ae9594efa72cbbb3d8fe24d478ba7b377a76ec66292d5f545ad41ae5801ab"},
    {binary, make_uint128(0, ~0ULL), 0x903c6418,
     "f0b1944bfd71a97f00008c2d34200cc0e65f989c6596a5ac884e3857b5ebcc519e1f7b34bbf5a0c9dc2a650f3750511d0733"
     "df49432fef9503344382bfd647279adbde107d4f5b8f2ec2e7fc0550d2503e69191ba74c2aba240dbabc6917de2b89a28799"},
    {binary, make_uint128(1, 0), 0x36bf1bde,
     "7cc5d0c2ed18328d49505fb7878baa2e5837d58bac31fe7f1b1095de87f0e50d4e2113b4bff6e0ca26aea8c10bb12d1f64bb"
     "86f16c09bebbbe701d2f3bef4ea287de2272f36ac583f6f118c6a530bfe2657798f86b943c2d1662616c5fdda5c69832b1ab"},
    {binary, ~uint128{0}, 0x1d80d128,
     "00000000000000000000ba8189a593b9ad80989c5f292247a10b594cb5ebef3e35f67871c9b0a0c91ba48f48924e5f120733"
     "36f9cd5dcd0ed33b4382219241ee590f050b7d4f236d37dd87c65aa3d2509638887e3436ac1d240d53f8bfa56d943bff8799"},
    {ascii, 0, 0x3fcaea0a,
     "4173664147484d356f6d20203030303030303030303030303030303030303030303030303030303030303030202030303030"
     "3232323230303030323232323030303032323232303030303232323230303030323232323030303030303030313131310d0a"},
    {ascii, 1, 0xff8f8052,
     "7e734864306a4476365820203030303030303030303030303030303030303030303030303030303030303031202037373737"
     "3939393934343434383838383535353543434343373737373535353535353535424242423636363634343434363636360d0a"},
    {ascii, 2, 0x0727031a,
     "75495e45596d38733d7c20203030303030303030303030303030303030303030303030303030303030303032202043434343"
     "4646464637373737393939393535353546464646313131313232323239393939383838383434343444444444464646460d0a"},
    {ascii, 1'000'000'000, 0xba2609be,
     "705d70497529646a6e6220203030303030303030303030303030303030303030303030303342394143413030202037373737"
     "4545454544444444313131314141414134343434333333333232323245454545414141414545454530303030313131310d0a"},
    {ascii, uint128{1} << 60, 0x44fcde93,
     "5f7a456e67696c2f707a20203030303030303030303030303030303031303030303030303030303030303030202030303030"
     "3232323230303030323232323030303032323232303030303232323230303030323232323030303030303030313131310d0a"},
    {ascii, make_uint128(0, ~0ULL), 0x17b0ba9d,
     "597535793b2e583c202020203030303030303030303030303030303046464646464646464646464646464646202030303030"
     "3030303030303030303030303030303030303030303030303030303030303030303030303030303030303030303030300d0a"},
    {ascii, make_uint128(1, 0), 0x50accde5,
     "3943353f4a4a2b356f6d20203030303030303030303030303030303130303030303030303030303030303030202030303030"
     "3232323230303030323232323030303032323232303030303232323230303030323232323030303030303030313131310d0a"},
    {ascii, ~uint128{0}, 0xadedf48c,
     "2020202020202020202020204646464646464646464646464646464646464646464646464646464646464646202030303030"
     "3030303030303030303030303030303030303030303030303030303030303030303030303030303030303030303030300d0a"},
    {skewed_binary, 0, 0x9ea593a0, "4a696d47726179524950"},
    {skewed_binary, 1, 0xe5294e1f, "95e0e48262b3edfe0447"},
    {skewed_binary, 2, 0x10027d62, "45979353dbed5329365c"},
    {skewed_binary, 1'000'000'000, 0x7bc716e5, "ff00463a85582021cfd7"},
    {skewed_binary, uint128{1} << 60, 0xb50e1d94, "33d5b5b12a0ce4e5f950"},
    {skewed_binary, make_uint128(0, ~0ULL), 0x903c6418, "f0b1944bfd71a97f0000"},
    {skewed_binary, make_uint128(1, 0), 0x9cb88b10, "5e46f543ed18328d4950"},
    {skewed_binary, ~uint128{0}, 0x1d80d128, "00000000000000000000"},
    {skewed_ascii, 0, 0x3fcaea0a, "4173664147484d356f6d"},
    {skewed_ascii, 1, 0xff8f8052, "7e734864306a44763658"},
    {skewed_ascii, 2, 0x0727031a, "75495e45596d38733d7c"},
    {skewed_ascii, 1'000'000'000, 0xc3a8230d, "395570497529646a6e62"},
    {skewed_ascii, uint128{1} << 60, 0x44fcde93, "5f7a456e67696c2f707a"},
    {skewed_ascii, make_uint128(0, ~0ULL), 0x17b0ba9d, "597535793b2e583c2020"},
    {skewed_ascii, make_uint128(1, 0), 0x50accde5, "3943353f4a4a2b356f6d"},
    {skewed_ascii, ~uint128{0}, 0xadedf48c, "20202020202020202020"},
};

class GensortVectors : public testing::TestWithParam<Vector> {};
INSTANTIATE_TEST_SUITE_P(Reference, GensortVectors, testing::ValuesIn(vectors));

TEST_P(GensortVectors, HaveTheBytesAndTheCrcOfTheReferenceTool) {
  const Bytes record = make_records(GetParam().format, GetParam().number, 1);
  EXPECT_EQ(to_hex(record).substr(0, GetParam().begins_with.size()), GetParam().begins_with);
  EXPECT_EQ(crc_sum(record.data(), 1).sum, GetParam().crc);
}

TEST_P(GensortVectors, ChangeOnlyTheKeyWhenSkewed) {
  GensortFormat plain = GetParam().format;
  plain.skewed = false;
  const Bytes record = make_records(GetParam().format, GetParam().number, 1),
              unskewed = make_records(plain, GetParam().number, 1);
  EXPECT_TRUE(std::equal(record.begin() + 6, record.end(), unskewed.begin() + 6));
}

struct Total {
  GensortFormat format;
  std::size_t count;
  std::string checksum;
};
const Total totals[] = {
    {binary, 1, "9ea593a0"},
    {ascii, 1, "3fcaea0a"},
    {skewed_binary, 1, "9ea593a0"},
    {skewed_ascii, 1, "3fcaea0a"},
    {binary, 10, "55fea8a1a"},
    {ascii, 10, "469302dca"},
    {skewed_binary, 10, "5d95519b3"},
    {skewed_ascii, 10, "46073c01c"},
    {binary, 1000, "1ea6370b955"},
    {ascii, 1000, "1f5dfb3631a"},
    {skewed_binary, 1000, "1e96301166b"},
    {skewed_ascii, 1000, "1eef17d1cac"},
};

TEST(Gensort, HasTheChecksumsOfTheReferenceTool) {
  for (const Total& total : totals) {
    EXPECT_EQ(crc_sum(make_records(total.format, 0, total.count).data(), total.count).to_hex(), total.checksum);
  }
}

// Partitions that cross the batches of the binary kernel and the carry into the upper half of the record number.
TEST(Gensort, MakesTheSameRecordsInPartitionsAsInOnePiece) {
  for (const GensortFormat format : {binary, ascii, skewed_binary, skewed_ascii}) {
    const uint128 first = make_uint128(7, ~0ULL - 300);
    const Bytes whole = make_records(format, first, 1000);
    Bytes parts;
    for (const auto& [begin, end] : {std::pair{0, 1}, {1, 256}, {256, 257}, {257, 700}, {700, 1000}}) {
      const Bytes part = make_records(format, first + begin, end - begin);
      parts.insert(parts.end(), part.begin(), part.end());
    }
    EXPECT_EQ(parts, whole);
    GensortRecords continued(format, first);
    Bytes pieces(whole.size());
    continued.generate(pieces.data(), 300);
    continued.generate(pieces.data() + 300 * gensort_record_bytes, 700);
    EXPECT_EQ(pieces, whole);
  }
}

TEST(Gensort, ContinuesWithRecordZeroAfterTheLastOf2To128) {
  Bytes expected = make_records(ascii, ~uint128{0}, 1);
  const Bytes zero = make_records(ascii, 0, 1);
  expected.insert(expected.end(), zero.begin(), zero.end());
  EXPECT_EQ(make_records(ascii, ~uint128{0}, 2), expected);
}

TEST(SkewIndex, IsTheBitLengthExceptThatTheFourTopBitsCountAsOne) {
  const std::pair<uint128, unsigned> expected[] = {{0, 0},
                                                   {1, 1},
                                                   {2, 2},
                                                   {3, 2},
                                                   {4, 3},
                                                   {(uint128{1} << 60) - 1, 60},
                                                   {uint128{1} << 60, 64},
                                                   {make_uint128(0, ~0ULL), 64},
                                                   {make_uint128(1, 0), 65},
                                                   {make_uint128(3, 5), 66},
                                                   {(uint128{1} << 124) - 1, 124},
                                                   {uint128{1} << 124, 128},
                                                   {~uint128{0}, 128}};
  for (const auto& [number, index] : expected) EXPECT_EQ(skew_index(number), index) << to_decimal(number);
}

TEST(Gensort, RecordsOfEveryFlavourAreRecognised) {
  for (const GensortFormat format : {binary, ascii, skewed_binary, skewed_ascii, GensortFormat{.teragen = true}})
    for (const uint128 first : {uint128{0}, uint128{1} << 60, ~uint128{0} - 1000}) {
      const Bytes records = make_records(format, first, 3000);
      for (std::size_t i = 0; i < 3000; ++i) EXPECT_TRUE(looks_generated(records.data() + i * gensort_record_bytes)) << i;
    }
}

TEST(Gensort, AnyFlippedBitBehindTheKeyIsNoticedInABinaryRecord) {
  for (std::size_t bit = gensort_key_bytes * 8; bit < gensort_record_bytes * 8; ++bit) {
    Bytes record = make_records(binary, 7, 1);
    record[bit / 8] ^= std::byte{static_cast<unsigned char>(1U << bit % 8)};
    // The last bits of a block change the sum by less than the unknown bits do; the first ones may change it by a multiple of
    // 2^80.
    const std::size_t in_block = bit / 8 % gensort_key_bytes;
    if (in_block > 0 && in_block < 7) {
      EXPECT_FALSE(looks_generated(record.data())) << bit;
    }
  }
}

TEST(Gensort, OtherBytesAreNoRecords) {
  for (const std::byte fill : {std::byte{0}, std::byte{0x20}, std::byte{0x61}, std::byte{0xff}}) {
    const Bytes record(gensort_record_bytes, fill);
    EXPECT_FALSE(looks_generated(record.data()));
  }
  Bytes shifted = make_records(binary, 0, 2);
  for (std::size_t by = 1; by < gensort_record_bytes; ++by) EXPECT_FALSE(looks_generated(shifted.data() + by)) << by;
}

}  // namespace
}  // namespace ecosort::sortbenchmark
