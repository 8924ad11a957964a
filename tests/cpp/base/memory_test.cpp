// Counted memory and the pages it lies in.
#include "base/memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/errors.h"
#include "engine/populate_ahead.h"

namespace ecosort {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20U;

std::size_t pages_present(const Buffer& buffer) {
  std::vector<unsigned char> present(buffer.size() / page_bytes);
  EXPECT_EQ(::mincore(buffer.data(), buffer.size(), present.data()), 0);
  return static_cast<std::size_t>(std::ranges::count_if(present, [](unsigned char page) { return (page & 1U) != 0; }));
}

bool can_populate() {
  MemoryBudget budget(mib);
  const Buffer buffer = budget.allocate(page_bytes, "a test", Pages::small);
  populate(buffer.data(), page_bytes);
  return pages_present(buffer) == 1;
}

TEST(MemoryBudgetTest, CountsWhatIsUsedAndRefusesMore) {
  MemoryBudget budget(2 * mib);
  {
    const Buffer one = budget.allocate(mib + 1, "a test");
    EXPECT_EQ(budget.used_bytes(), mib + page_bytes);
    EXPECT_THROW((void)budget.allocate(mib, "a test"), InternalError);
  }
  EXPECT_EQ(budget.used_bytes(), 0U);
  EXPECT_EQ(budget.peak_bytes(), mib + page_bytes);
}

TEST(MemoryBudgetTest, PagesThatWereGivenBackServeAgain) {
  MemoryBudget budget(8 * mib);
  for (int i = 1; i < 4; ++i) {
    const Buffer buffer = budget.allocate(8 * mib, "a test");
    EXPECT_EQ(pages_present(buffer), i == 1 ? 0 : 8 * mib / page_bytes);
    std::memset(buffer.data(), i, buffer.size());
  }
}

TEST(MemoryBudgetTest, WhatIsUsedAndWhatIsIdleTogetherKeepTheLimit) {
  MemoryBudget budget(12 * mib);
  {
    const Buffer first = budget.allocate(4 * mib, "a test"), second = budget.allocate(8 * mib, "a test");
    std::memset(first.data(), 1, first.size());
    std::memset(second.data(), 1, second.size());
  }
  const Buffer small = budget.allocate(6 * mib, "a test", Pages::small);  // idle pages are none for it
  EXPECT_EQ(budget.used_bytes() + budget.idle_bytes(), 12 * mib);
  const Buffer large = budget.allocate(6 * mib, "a test");
  EXPECT_EQ(budget.used_bytes() + budget.idle_bytes(), 12 * mib);
  EXPECT_EQ(budget.peak_bytes(), 12 * mib);
}

// Tables on the heap, which the plan counts.
TEST(MemoryBudgetTest, WhatIsInUseElsewhereTakesThePlaceOfIdlePages) {
  constexpr std::size_t size = std::size_t{8} << 20U;
  MemoryBudget budget(2 * size);
  {
    const Buffer buffer = budget.allocate(2 * size, "both halves");
  }
  EXPECT_EQ(budget.idle_bytes(), 2 * size);
  budget.count_elsewhere(size);
  EXPECT_EQ(budget.used_bytes(), size);
  EXPECT_LE(budget.idle_bytes(), size);
  EXPECT_THROW((void)budget.allocate(size + 1, "more than there is"), InternalError);
  budget.count_elsewhere(size / 2);
  EXPECT_EQ(budget.used_bytes(), size / 2);
  EXPECT_EQ(budget.peak_bytes(), 2 * size);
}

TEST(PopulateTest, GetsThePagesAndLeavesWhatIsInThem) {
  if (!can_populate()) GTEST_SKIP() << "the system cannot populate pages";
  MemoryBudget budget(8 * mib);
  const Buffer buffer = budget.allocate(8 * mib, "a test", Pages::small);
  EXPECT_EQ(pages_present(buffer), 0U);
  std::memset(buffer.data() + mib, 7, page_bytes);
  populate(buffer.data() + 100, 4 * mib);
  EXPECT_EQ(pages_present(buffer), 4 * mib / page_bytes + 1);  // the last one for the 100 bytes
  EXPECT_EQ(buffer.data()[mib], std::byte{7});
  EXPECT_EQ(buffer.data()[2 * mib], std::byte{0});
}

TEST(PopulateAheadTest, TheBuffersCanGoAtAnyTime) {
  MemoryBudget budget(256 * mib);
  for (int i = 0; i < 20; ++i) {
    const Buffer buffer = budget.allocate(256 * mib, "a test");
    engine::PopulateAhead ahead;
    ahead.add(buffer.as<std::byte>());
    ahead.begin();
    std::memset(buffer.data() + static_cast<std::size_t>(i) * mib, 9, mib);
    ahead.end();
    EXPECT_EQ(buffer.data()[static_cast<std::size_t>(i) * mib + 5], std::byte{9});
  }
}

}  // namespace
}  // namespace ecosort
