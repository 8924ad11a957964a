#include "base/stream_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"

namespace ecosort {
namespace {

constexpr std::byte untouched{0xa5};

// From any place to any place of a cache line, and nothing around it.
void copy_at(const std::vector<std::byte>& source, std::size_t from, std::size_t to, std::size_t size) {
  std::vector<std::byte> target(to + size + 128, untouched);
  stream_copy(target.data() + to, source.data() + from, size);
  stream_fence();
  const auto begin = target.begin() + static_cast<std::ptrdiff_t>(to), end = begin + static_cast<std::ptrdiff_t>(size);
  EXPECT_TRUE(std::equal(begin, end, source.begin() + static_cast<std::ptrdiff_t>(from))) << from << " " << to << " " << size;
  EXPECT_EQ(std::count(target.begin(), begin, untouched), static_cast<std::ptrdiff_t>(to));
  EXPECT_EQ(std::count(end, target.end(), untouched), target.end() - end);
}

TEST(StreamCopy, CopiesWhatMemcpyWould) {
  Random random(1);
  std::vector<std::byte> source(1024);
  for (std::byte& byte : source) byte = static_cast<std::byte>(random.next() % 0x80);
  for (std::size_t to = 0; to < 64; ++to)
    for (std::size_t size = 0; size <= 300; size += 1 + size / 130) copy_at(source, (to * 7 + size) % 64, to, size);
}

}  // namespace
}  // namespace ecosort
