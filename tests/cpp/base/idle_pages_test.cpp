// Pages that serve again.
#include "base/idle_pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "base/memory.h"

namespace ecosort {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20U;

std::span<std::byte> mapping(std::size_t size, int filled_with) {
  void* const at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(at, MAP_FAILED);
  if (filled_with != 0) std::memset(at, filled_with, size);
  return {static_cast<std::byte*>(at), size};
}

void unmap(std::span<std::byte> memory) { EXPECT_EQ(::munmap(memory.data(), memory.size()), 0); }

std::size_t bytes_present(std::span<std::byte> memory) {
  std::vector<unsigned char> present(memory.size() / page_bytes);
  EXPECT_EQ(::mincore(memory.data(), memory.size(), present.data()), 0);
  return page_bytes *
         static_cast<std::size_t>(std::ranges::count_if(present, [](unsigned char page) { return (page & 1U) != 0; }));
}

bool all_are(std::span<std::byte> memory, int value) {
  return std::ranges::all_of(memory, [value](std::byte byte) { return byte == std::byte(value); });
}

TEST(IdlePagesTest, AMappingThatIsTooLargeIsCut) {
  IdlePages idle;
  idle.add(mapping(8 * mib, 7));
  const std::span<std::byte> taken = idle.take(5 * mib);
  ASSERT_EQ(taken.size(), 5 * mib);
  EXPECT_TRUE(all_are(taken, 7));
  EXPECT_EQ(idle.bytes(), 3 * mib);
  unmap(taken);
}

TEST(IdlePagesTest, AMappingThatIsTooSmallGrowsAndKeepsItsPages) {
  IdlePages idle;
  idle.add(mapping(3 * mib, 1));
  idle.add(mapping(4 * mib, 2));
  const std::span<std::byte> taken = idle.take(10 * mib);
  ASSERT_EQ(taken.size(), 10 * mib);
  EXPECT_EQ(bytes_present(taken), 4 * mib);
  EXPECT_TRUE(all_are(taken.first(4 * mib), 2));
  EXPECT_TRUE(all_are(taken.subspan(4 * mib), 0));
  EXPECT_EQ(idle.bytes(), 3 * mib);
  unmap(taken);
}

TEST(IdlePagesTest, TheSmallestMappingThatFitsIsTaken) {
  IdlePages idle;
  idle.add(mapping(8 * mib, 8));
  idle.add(mapping(4 * mib, 4));
  idle.add(mapping(2 * mib, 2));
  const std::span<std::byte> taken = idle.take(3 * mib);
  EXPECT_TRUE(all_are(taken, 4));  // the MiB that is left of it is not worth keeping
  EXPECT_EQ(idle.bytes(), 10 * mib);
  unmap(taken);
}

TEST(IdlePagesTest, SmallPiecesAreNeitherKeptNorGiven) {
  IdlePages idle;
  idle.add(mapping(1 * mib, 1));
  EXPECT_EQ(idle.bytes(), 0U);
  idle.add(mapping(2 * mib, 1));
  EXPECT_TRUE(idle.take(page_bytes).empty());
  EXPECT_EQ(idle.bytes(), 2 * mib);
}

TEST(IdlePagesTest, WhatIsMoreThanAllowedIsUnmapped) {
  IdlePages idle;
  for (const std::size_t size : {2 * mib, 4 * mib, 8 * mib}) idle.add(mapping(size, 0));
  idle.keep_at_most(13 * mib);
  EXPECT_EQ(idle.bytes(), 12 * mib);  // what is left of the smallest one is not worth keeping
  idle.keep_at_most(7 * mib);
  EXPECT_EQ(idle.bytes(), 7 * mib);
  idle.keep_at_most(0);
  EXPECT_EQ(idle.bytes(), 0U);
}

TEST(IdlePagesTest, MoreMappingsThanThereIsPlaceForAreUnmapped) {
  IdlePages idle;
  for (int i = 0; i < 100; ++i) idle.add(mapping(2 * mib, 0));
  EXPECT_LE(idle.bytes(), 32 * mib);
  EXPECT_GT(idle.bytes(), 2 * mib);
}

}  // namespace
}  // namespace ecosort
