#include "formats/records/index_sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <string>

#include "base/cpu_features.h"
#include "cpp/formats/records/test_support.h"
#include "cpp/support/small_stack.h"
#include "sorting/radix_digit.h"
#include "sorting/radix_partition.h"

namespace ecosort::records {
namespace {

using Random = std::mt19937_64;
using Entries = std::vector<sorting::Entry>;

std::uint64_t printable(Random& random) {
  std::uint64_t word = 0;
  for (int i = 0; i < 8; ++i) word = word << 8U | (32 + random() % 95);
  return word;
}

std::uint64_t decimal(Random& random) {
  std::uint64_t word = 0;
  for (int i = 0; i < 8; ++i) word = word << 8U | ('0' + random() % 10);
  return word;
}

struct Distribution {
  const char* name;
  std::function<sorting::Entry(Random&, std::uint32_t i, std::size_t n)> make;
};

std::uint32_t low_word(Random& random) { return static_cast<std::uint32_t>(random()); }

const Distribution distributions[] = {
    {"uniform", [](Random& r, std::uint32_t, std::size_t) { return sorting::Entry{r(), low_word(r), 0}; }},
    {"printable",
     [](Random& r, std::uint32_t, std::size_t) { return sorting::Entry{printable(r), low_word(r) & 0x7f7f0000U, 0}; }},
    {"decimal", [](Random& r, std::uint32_t, std::size_t) { return sorting::Entry{decimal(r), 8, 0}; }},
    {"all equal", [](Random&, std::uint32_t, std::size_t) { return sorting::Entry{0x1234567890abcdef, 77, 0}; }},
    {"two values", [](Random& r, std::uint32_t, std::size_t) { return sorting::Entry{r() % 2 << 63U, 5, 0}; }},
    {"a hundred values",
     [](Random& r, std::uint32_t, std::size_t) { return sorting::Entry{(r() % 100) * 0x9e3779b97f4a7c15, 0, 0}; }},
    {"extension only", [](Random& r, std::uint32_t, std::size_t) { return sorting::Entry{42, low_word(r), 0}; }},
    {"few bits", [](Random& r, std::uint32_t,
                    std::size_t) { return sorting::Entry{r() & 0x8000400020001001, low_word(r) & 0x80000001U, 0}; }},
    {"low bits", [](Random& r, std::uint32_t, std::size_t) { return sorting::Entry{r() % 7, low_word(r) % 3, 0}; }},
    {"ascending", [](Random&, std::uint32_t i, std::size_t) { return sorting::Entry{i / 3, i % 3, 0}; }},
    {"descending", [](Random&, std::uint32_t i, std::size_t n) { return sorting::Entry{n - i, 0, 0}; }},
    {"descending with ties", [](Random&, std::uint32_t i, std::size_t n) { return sorting::Entry{(n - i) / 5, 0, 0}; }},
    {"one swap", [](Random&, std::uint32_t i, std::size_t n) { return sorting::Entry{i == n - 1 ? 0U : i, 0, 0}; }},
    {"half under one prefix",
     [](Random& r, std::uint32_t, std::size_t) {
       return r() % 2 ? sorting::Entry{r() % 5000 + (7ULL << 60U), low_word(r), 0} : sorting::Entry{r(), 1, 0};
     }},
    {"skewed", [](Random& r, std::uint32_t, std::size_t) { return sorting::Entry{r() >> (r() % 64), low_word(r), 0}; }},
    {"rare high bit", [](Random& r, std::uint32_t i,
                         std::size_t n) { return sorting::Entry{(r() >> 30U) | std::uint64_t{i == n / 2 + 1} << 63U, 9, 0}; }},
    {"rare middle bits",
     [](Random& r, std::uint32_t i, std::size_t n) {
       return sorting::Entry{(r() & 0xffff0000ffff0000) | (i == n / 3 ? 0x0000ffff00000000U : 0U), 9, 0};
     }},
};

const std::size_t sizes[] = {0, 1, 2, 3, 17, 24, 25, 26, 100, 1000, 16384, 16385, 40000, 65536, 70001, 300000};

Entries make_entries(const Distribution& distribution, std::size_t n, Random& random) {
  Entries entries(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    entries[i] = distribution.make(random, i, n);
    entries[i].index = i;
  }
  return entries;
}

bool same(const Entries& a, const Entries& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const sorting::Entry& x, const sorting::Entry& y) {
    return sorting::key_equal(x, y) && x.index == y.index;
  });
}

TEST(IndexSort, IsStableByPrefixAndExtensionForAnyDistribution) {
  Random random(1);
  for (const Distribution& distribution : distributions) {
    for (const std::size_t n : sizes) {
      const Entries input = make_entries(distribution, n, random);
      Entries expected = input;
      std::stable_sort(expected.begin(), expected.end(), sorting::key_less);
      Entries entries = input;
      Entries scratch(n);
      sort_entries(entries.data(), scratch.data(), n);
      EXPECT_TRUE(same(entries, expected)) << distribution.name << ", " << n << " entries";
    }
  }
}

TEST(IndexSort, GivesTheSameWithAnyNumberOfThreads) {
  Random random(2);
  for (const Distribution& distribution : distributions) {
    const std::size_t n = 70000 + random() % 100000;
    const Entries input = make_entries(distribution, n, random);
    Entries expected = input;
    std::stable_sort(expected.begin(), expected.end(), sorting::key_less);
    for (const unsigned threads : {2U, 3U, 8U}) {
      Entries entries = input;
      Entries scratch(n);
      sort_entries_parallel(entries.data(), scratch.data(), n, threads);
      EXPECT_TRUE(same(entries, expected)) << distribution.name << ", " << threads << " threads";
    }
  }
}

TEST(IndexSort, StaysInsideItsArraysWhereverTheyStart) {
  Random random(3);
  const sorting::Entry guard{0xdeadbeefdeadbeef, 1, 2};
  for (const std::size_t shift : {1UL, 3UL, 8UL, 15UL}) {
    const std::size_t n = 70000;
    Entries entries = make_entries(distributions[0], n + shift + 1, random);
    Entries scratch(entries.size(), guard);
    entries[shift - 1] = entries[shift + n] = guard;
    Entries expected = entries;
    std::stable_sort(expected.begin() + static_cast<long>(shift), expected.end() - 1, sorting::key_less);
    sort_entries(entries.data() + shift, scratch.data() + shift, n);
    EXPECT_TRUE(same(entries, expected)) << "shift " << shift;
    EXPECT_EQ(scratch[shift - 1].prefix, guard.prefix);
    EXPECT_EQ(scratch[shift + n].prefix, guard.prefix);
  }
}

// Seven bits of decimal digits have 50 values, not 128.
TEST(IndexSort, HasMoreBucketsWhereDigitsLackValues) {
  Random random(4);
  const std::size_t n = 20000;
  for (const auto& [name, buckets] : {std::pair{"uniform", 128U}, {"decimal", 1024U}}) {
    const auto* const made = std::ranges::find(distributions, std::string_view(name), &Distribution::name);
    Entries entries = make_entries(*made, n, random), scratch(n);
    EXPECT_EQ(sorting::partition(entries.data(), scratch.data(), n, 7, 1).ends.size(), buckets) << name;
  }
}

// Each bit of the key separates one entry from all that are left: the ranges lie within each other as deeply as they can.
TEST(IndexSort, TakesNoMoreStackThanAKeyHasBits) {
  Entries input(20'000);
  for (std::uint32_t i = 0; i < input.size(); ++i) input[i].index = i;
  for (unsigned bit = 0; bit < 64; ++bit) input[200 * bit].prefix = 1ULL << bit;
  for (unsigned bit = 0; bit < 32; ++bit) input[200 * bit + 100].extension = 1U << bit;
  Entries expected = input, entries = input, scratch(input.size());
  std::stable_sort(expected.begin(), expected.end(), sorting::key_less);
  on_small_stack([&] { sort_entries(entries.data(), scratch.data(), entries.size()); });
  EXPECT_TRUE(same(entries, expected));
}

// Catches digits that leave out a bit above one that they have, in both ways of taking them, and those with room left.
class RadixDigit : public testing::TestWithParam<sorting::DigitBits> {
  void SetUp() override {
    if (GetParam() == sorting::DigitBits::extracted && !extracts_bits_fast()) GTEST_SKIP() << "not on this processor";
  }
};
INSTANTIATE_TEST_SUITE_P(Ways, RadixDigit, testing::Values(sorting::DigitBits::extracted, sorting::DigitBits::of_segments));

TEST_P(RadixDigit, OrdersLikeTheBitsItLeads) {
  Random random(4);
  for (int round = 0; round < 20000; ++round) {
    const sorting::KeyBits differing{random() & random() & (random() % 4 == 0 ? 0 : ~0ULL), low_word(random) & low_word(random)};
    const unsigned wanted = 1 + static_cast<unsigned>(random() % 16);
    const sorting::DigitPlan plan = sorting::plan_digit(differing, wanted, GetParam());
    EXPECT_TRUE(plan.leads(differing));
    if (GetParam() == sorting::DigitBits::extracted) {
      const int differ = std::popcount(differing.prefix) + std::popcount(differing.extension);
      EXPECT_EQ(plan.bits, std::min(wanted, static_cast<unsigned>(differ)));
    }
    const sorting::Entry base{random(), low_word(random), 0};
    const auto vary = [&] {
      return sorting::Entry{base.prefix ^ (random() & differing.prefix),
                            base.extension ^ (low_word(random) & differing.extension), 0};
    };
    const sorting::Entry a = vary();
    const sorting::Entry b = vary();
    sorting::with_digit(plan, [&](auto digit_of) {
      EXPECT_LT(digit_of(a), plan.values());
      if (digit_of(a) < digit_of(b)) {
        EXPECT_TRUE(sorting::key_less(a, b));
      }
    });
    sorting::KeyBits above = differing;  // one more bit, above all others
    above.prefix |= 1ULL << 63U;
    if (differing.prefix >> 63U == 0) {
      EXPECT_FALSE(plan.leads(above));
    }
  }
}

// Keys that tie in their first bytes.
struct KeyMaker {
  const char* name;
  std::uint32_t key_length;
  std::function<std::string(Random&, std::uint32_t i)> make;
};

std::string random_text(Random& random, std::size_t length, unsigned symbols) {
  std::string text;
  for (std::size_t i = 0; i < length; ++i) text += static_cast<char>('a' + random() % symbols);
  return text;
}

const KeyMaker key_makers[] = {
    {"random", 40, [](Random& r, std::uint32_t) { return random_text(r, 40, 26); }},
    {"binary digits", 30, [](Random& r, std::uint32_t) { return random_text(r, 30, 2); }},
    {"one common beginning", 60,
     [](Random& r, std::uint32_t) { return "https://www.example.com/archive/item/" + random_text(r, 23, 26); }},
    {"nested beginnings", 64,
     [](Random& r, std::uint32_t) {
       return "https://host" + std::to_string(r() % 3) + ".example.com/directory" + std::to_string(10 + r() % 20) + "/page" +
              std::to_string(100000 + r() % 900000);
     }},
    {"equal", 100, [](Random&, std::uint32_t) { return std::string(100, 'x'); }},
    {"pairs", 50, [](Random& r, std::uint32_t i) { return std::to_string(1000000000000 + i / 2) + random_text(r, 37, 3); }},
    {"last byte decides", 80, [](Random& r, std::uint32_t) { return std::string(79, 'y') + random_text(r, 1, 26); }},
    {"each parts ways later", 1000, [](Random&, std::uint32_t i) { return std::string(i % 999 + 1, 'z'); }},
    {"thirteen bytes", 13, [](Random& r, std::uint32_t) { return std::string(12, 'a') + random_text(r, 1, 4); }},
};

struct Run {
  RecordFormat format;
  std::vector<std::byte> records;
  std::size_t count;

  [[nodiscard]] const std::byte* record(std::size_t i) const { return records.data() + i * format.record_size; }
};

Run make_run(const KeyMaker& maker, std::size_t count, bool descending, Random& random) {
  const std::uint32_t size = maker.key_length + 7;
  Run run{{.record_size = size, .keys = {{5, maker.key_length, descending}}}, std::vector<std::byte>(count * size), count};
  for (std::uint32_t i = 0; i < count; ++i) {
    std::string key = maker.make(random, i);
    key.resize(maker.key_length);
    std::memcpy(run.records.data() + i * size + 5, key.data(), key.size());
  }
  return run;
}

std::vector<std::uint32_t> order_by_comparing(const Run& run) {
  const auto key = [&](std::uint32_t i) { return run.record(i) + run.format.keys[0].offset; };
  const std::uint32_t length = run.format.keys[0].length;
  std::vector<std::uint32_t> order(run.count);
  for (std::uint32_t i = 0; i < run.count; ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const int comparison = std::memcmp(key(a), key(b), length);
    return run.format.keys[0].descends ? comparison > 0 : comparison < 0;
  });
  return order;
}

void check_run(const Run& run, unsigned threads, const char* name) {
  const Encoder encoder(run.format);
  Entries entries(run.count);
  Entries scratch(run.count);
  extract(encoder, run.records.data(), run.count, 0, entries.data());
  sort_entries_parallel(entries.data(), scratch.data(), run.count, threads);
  refine_ties_parallel(entries.data(), scratch.data(), run.count, encoder, RecordTable(run.records.data(), encoder.record_size()),
                       threads);
  const std::vector<std::uint32_t> expected = order_by_comparing(run);
  for (std::size_t i = 0; i < run.count; ++i) {
    ASSERT_EQ(entries[i].index, expected[i]) << name << ", " << threads << " threads, place " << i;
    ASSERT_EQ(entries[i].prefix, encoder.prefix(run.record(expected[i]))) << name;
    ASSERT_EQ(entries[i].extension, encoder.extension(run.record(expected[i]))) << name;
  }
}

TEST(RefineTies, OrdersByTheFullKeyThenByTheIndexAndKeepsThePrefixes) {
  Random random(5);
  for (const KeyMaker& maker : key_makers) {
    for (const std::size_t count : {1UL, 2UL, 10UL, 17UL, 200UL, 3000UL, 30000UL}) {
      if (count * maker.key_length > 8000000) continue;
      for (const bool descending : {false, true}) check_run(make_run(maker, count, descending, random), 1, maker.name);
    }
  }
}

// A group spans many parts, and while one task refines it the others look for its borders.
TEST(RefineTies, GroupsThatSpanPartsAreFoundWhileOthersAreRefined) {
  Random random(7);
  const KeyMaker spanning{"spanning", 16,
                          [](Random& r, std::uint32_t) { return std::string(12, 'p') + std::to_string(r() % 9000 + 1000); }};
  for (int round = 0; round < 200; ++round) check_run(make_run(spanning, 4000, false, random), 4, spanning.name);
}

TEST(RefineTies, GivesTheSameWithAnyNumberOfThreads) {
  Random random(6);
  for (const KeyMaker& maker : key_makers) {
    const std::size_t count = std::min<std::size_t>(150000, 12000000 / maker.key_length);
    for (const unsigned threads : {2U, 5U}) check_run(make_run(maker, count, false, random), threads, maker.name);
  }
}

}  // namespace
}  // namespace ecosort::records
