// Every variant of the transposition against the definition, for every size of a record, and back.
#include "codec/transpose.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "cpp/formats/records/test_support.h"

namespace ecosort::codec {
namespace {

using records::Bytes;

Bytes by_definition(const Bytes& in, std::size_t rows, std::size_t columns) {
  auto out = std::make_unique<std::byte[]>(rows * columns);
  for (std::size_t at = 0; at < rows * columns; ++at) out[at % columns * rows + at / columns] = in[at];
  return out;
}

// Heap blocks of exactly their size, behind a few bytes that make addresses odd.
void expect_transposed(TransposeFunction function, std::size_t rows, std::size_t columns, std::size_t shift,
                       std::mt19937_64& random) {
  const std::size_t size = rows * columns;
  const Bytes in = records::random_bytes(size, random);
  const Bytes expected = by_definition(in, rows, columns);
  auto shifted = std::make_unique<std::byte[]>(shift + size), out = std::make_unique<std::byte[]>(shift + size);
  std::memcpy(shifted.get() + shift, in.get(), size);
  function(shifted.get() + shift, rows, columns, out.get() + shift);
  ASSERT_EQ(std::memcmp(out.get() + shift, expected.get(), size), 0) << rows << " rows of " << columns;
  ASSERT_TRUE(std::all_of(out.get(), out.get() + shift, [](std::byte byte) { return byte == std::byte{0}; }));
  function(out.get() + shift, columns, rows, shifted.get() + shift);
  ASSERT_EQ(std::memcmp(shifted.get() + shift, in.get(), size), 0) << rows << " rows of " << columns << ", back";
}

class Transpose : public testing::TestWithParam<CpuLevel> {};

TEST_P(Transpose, DoesWhatItsDefinitionSaysForEveryRecordSizeAndCount) {
  std::mt19937_64 random(1);
  for (std::size_t record_size = 1; record_size <= 256; ++record_size)
    for (const std::size_t count : {1, 2, 3, 7, 15, 16, 17, 31, 32, 33, 47, 63, 64, 65, 129, 655})
      expect_transposed(transpose_variant(GetParam()), count, record_size, (record_size + count) % 5, random);
}

TEST_P(Transpose, TakesRecordsLargerThanAPanel) {
  std::mt19937_64 random(2);
  for (const std::size_t record_size : {1000, 4096, 4097, 50'007})
    for (const std::size_t count : {1, 2, 5, 16, 33})
      expect_transposed(transpose_variant(GetParam()), count, record_size, 1, random);
}

INSTANTIATE_TEST_SUITE_P(Levels, Transpose, testing::ValuesIn(records::available_cpu_levels()),
                         [](const auto& info) { return std::string(to_string(info.param)); });

TEST(TransposePlainly, DoesWhatItsDefinitionSays) {
  std::mt19937_64 random(3);
  for (std::size_t record_size = 1; record_size <= 40; ++record_size)
    expect_transposed(transpose_plainly, 37, record_size, 0, random);
}

TEST(TransposePlainly, OfNothingIsNothing) {
  for (const CpuLevel level : records::available_cpu_levels()) {
    transpose_variant(level)(nullptr, 0, 100, nullptr);
    transpose_variant(level)(nullptr, 100, 0, nullptr);
  }
}

}  // namespace
}  // namespace ecosort::codec
