#include "sorting/bucket_sort.h"

#include <bit>
#include <utility>

// The bucket is not moved while it is sorted: a 4-byte word per entry, bits of the key above the entry's place in the bucket, is
// sorted in its place, by vectors where the processor has some, else by two counting passes of 8 bits in the first-level cache.
// One pass over the sorted words then fetches the entries, and repairs by insertion what these bits left undecided. 16 of them
// leave 1-2 % of the neighbours of uniform keys, few enough for the branch predictor; vectors compare all that the places leave.
// On a 2.4 GHz Xeon, 4 million uniform entries in buckets of 4096, counted: 8.0 ns per entry, against 13-18 ns for a counting
// pass of 11-14 bits over the entries themselves followed by insertion.

namespace ecosort::sorting {
namespace {

constexpr unsigned word_bits = 32, counted_place_bits = 16;
static_assert(max_bucket <= std::size_t{1} << counted_place_bits);

constexpr std::uint32_t mask_of(unsigned place_bits) noexcept { return (std::uint32_t{1} << place_bits) - 1; }

constexpr unsigned pass_bits = 8;
constexpr std::size_t pass_values = 1U << pass_bits;

// Digits of random bits have so many values that counts do not wait for each other. Text leaves holes between the bits that
// differ.
bool are_random(KeyBits differing) noexcept {
  const std::uint64_t from_first = differing.prefix << std::countl_zero(differing.prefix | 1U);
  return std::countl_one(from_first) >= 16;
}

void insert_backwards(Entry* entries, std::size_t at) noexcept {
  const Entry moving = entries[at];
  std::size_t hole = at;
  do {
    entries[hole] = entries[hole - 1];
    --hole;
  } while (hole > 0 && key_less(moving, entries[hole - 1]));
  entries[hole] = moving;
}

struct Counters {
  std::uint32_t low[pass_values] = {};
  std::uint32_t high[pass_values] = {};

  void turn_into_starts() noexcept {
    std::uint32_t low_sum = 0;
    std::uint32_t high_sum = 0;
    for (std::size_t value = 0; value < pass_values; ++value) {
      low_sum += std::exchange(low[value], low_sum);
      high_sum += std::exchange(high[value], high_sum);
    }
  }
};

// words[i] = digit of entry i above i, and how often each half of the digit occurs.
template <class DigitOf>
void make_words(const Entry* from, std::size_t n, DigitOf digit_of, std::uint32_t* words, Counters& counters) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t digit = digit_of(from[i]);
    ++counters.low[digit % pass_values];
    ++counters.high[digit / pass_values];
    words[i] = digit << counted_place_bits | static_cast<std::uint32_t>(i);
  }
}

// Returns the array that holds the words in the order of their digits.
std::uint32_t* sort_words(std::uint32_t* words, std::uint32_t* other, std::size_t n, unsigned digit_bits,
                          Counters& counters) noexcept {
  counters.turn_into_starts();
  for (std::size_t i = 0; i < n; ++i) other[counters.low[words[i] >> counted_place_bits & (pass_values - 1)]++] = words[i];
  if (digit_bits <= pass_bits) return other;
  for (std::size_t i = 0; i < n; ++i) words[counters.high[other[i] >> (counted_place_bits + pass_bits)]++] = other[i];
  return words;
}

// Fetches the entries in the order of the words. Returns whether they are in order.
bool fetch(const Entry* from, Entry* to, const std::uint32_t* words, std::size_t n, std::uint32_t place_mask) noexcept {
  Entry last = to[0] = from[words[0] & place_mask];
  bool descends = false;
  for (std::size_t i = 1; i < n; ++i) {
    const Entry next = to[i] = from[words[i] & place_mask];
    // Without a branch: text has many equal keys, and no one can predict which.
    descends |= (next.prefix < last.prefix) | ((next.prefix == last.prefix) & (next.extension < last.extension));
    last = next;
  }
  return !descends;
}

// Repairs the order of entry i, whose digit begins at entry group_start. Returns whether that takes too long.
inline bool repair(Entry* entries, std::size_t group_start, std::size_t i) noexcept {
  if (i - group_start >= insertion_limit) return !key_equal(entries[i], entries[i - 1]);
  if (key_less(entries[i], entries[i - 1])) insert_backwards(entries, i);
  return false;
}

// Repairs what was fetched in the order of the words; see sort_bucket for the result.
bool repair_all(Entry* entries, const std::uint32_t* words, std::size_t n, std::uint32_t place_mask) noexcept {
  bool group_left = false;
  std::size_t group_start = 0;
  for (std::size_t i = 1; i < n; ++i) {
    if ((words[i] ^ words[i - 1]) > place_mask)
      group_start = i;
    else
      group_left |= repair(entries, group_start, i);
  }
  return group_left;
}

// Does as fetch(), and repairs what it fetches; see sort_bucket for the result.
bool fetch_and_repair(const Entry* from, Entry* to, const std::uint32_t* words, std::size_t n) noexcept {
  constexpr std::uint32_t place_mask = mask_of(counted_place_bits);
  bool group_left = false;
  std::size_t group_start = 0;
  to[0] = from[words[0] & place_mask];
  for (std::size_t i = 1; i < n; ++i) {
    to[i] = from[words[i] & place_mask];
    if ((words[i] ^ words[i - 1]) > place_mask)
      group_start = i;
    else
      group_left |= repair(to, group_start, i);
  }
  return group_left;
}

}  // namespace

void insertion_sort(Entry* entries, std::size_t n) noexcept {
  for (std::size_t i = 1; i < n; ++i) {
    if (key_less(entries[i], entries[i - 1])) insert_backwards(entries, i);
  }
}

BucketWay bucket_way(std::size_t n, KeyBits differing) {
  static const WordSort words = word_sort_of(cpu_level());
  constexpr std::size_t most_of_random = 2048;
  if (n > words.most || (n > most_of_random && are_random(differing))) return {nullptr, word_bits - counted_place_bits};
  return {words.sort, word_bits - static_cast<unsigned>(std::bit_width(n - 1))};
}

bool sort_bucket(const Entry* from, Entry* to, std::size_t n, const DigitPlan& plan, BucketWay way, BucketWorkspace& workspace) {
  std::uint32_t* const words = workspace.words_for(n);
  if (way.sort != nullptr) {
    const auto place_bits = static_cast<unsigned>(std::bit_width(n - 1));
    with_digit(plan, [&](auto digit_of) {
      for (std::size_t i = 0; i < n; ++i) words[i] = digit_of(from[i]) << place_bits | static_cast<std::uint32_t>(i);
    });
    way.sort(words, n);
    return !fetch(from, to, words, n, mask_of(place_bits)) && repair_all(to, words, n, mask_of(place_bits));
  }
  Counters counters;
  with_digit(plan, [&](auto digit_of) { make_words(from, n, digit_of, words, counters); });
  return fetch_and_repair(from, to, sort_words(words, words + n, n, plan.bits, counters), n);
}

}  // namespace ecosort::sorting
