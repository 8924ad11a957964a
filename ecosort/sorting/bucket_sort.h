// The in-cache step of the index sort: one bucket of the radix partition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "sorting/radix_digit.h"
#include "sorting/word_sort.h"

namespace ecosort::sorting {

inline constexpr std::size_t max_bucket = std::size_t{1} << 14U;  // entries; 256 KiB of them stay in the second-level cache
inline constexpr std::size_t insertion_limit = 24;                // entries that insertion sort orders faster than counting

// Two words per entry of a bucket: up to 128 KiB, one per task. As many as the largest bucket so far wants, because many tasks
// have small ones only.
class BucketWorkspace {
 public:
  [[nodiscard]] std::uint32_t* words_for(std::size_t entries) {
    if (entries > entries_) {
      const std::size_t room = room_to_sort(entries);
      words_.reset(new AlignedWords[2 * room / words_together]);
      entries_ = room;
    }
    return words_[0].words;
  }

 private:
  static constexpr std::size_t words_together = word_alignment / sizeof(std::uint32_t);
  struct alignas(word_alignment) AlignedWords {
    std::uint32_t words[words_together];
  };

  std::unique_ptr<AlignedWords[]> words_;
  std::size_t entries_ = 0;
};

// Stable, in place; for short ranges.
void insertion_sort(Entry* entries, std::size_t n) noexcept;

// Says how the words of a bucket are sorted.
struct BucketWay {
  SortWords sort = nullptr;  // null: they are counted
  unsigned digit_bits = 0;   // at most, that a word has room for
};

// Returns the faster way for n >= 2 entries that differ in these bits.
[[nodiscard]] BucketWay bucket_way(std::size_t n, KeyBits differing);

// Moves from[0..n) to to[0..n), stably ordered by the digit of the plan, and completely ordered within groups of up to
// insertion_limit entries that agree in it. n <= max_bucket. Returns whether a longer group, of different keys, is left
// unordered; it lies together, its entries of equal key in their old order. `plan` must lead the bits in which the bucket's
// entries differ, and have at most way.digit_bits.
bool sort_bucket(const Entry* from, Entry* to, std::size_t n, const DigitPlan& plan, BucketWay way, BucketWorkspace& workspace);

}  // namespace ecosort::sorting
