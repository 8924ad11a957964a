// Sorts 32-bit words by vectors, where the processor has some.
//
// Counting how often each value of a digit occurs is slow where there are few values, as in text: each count of a value waits for
// the one before. On a Zen 3, 64 words of such digits take 10.4 ns each that way and 1.4 ns this way, 3000 words 6.7 and 3.8; of
// random digits 3000 words take 3.0 ns each that way. See docs/measurements.md, M46.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/cpu_features.h"

namespace ecosort::sorting {

inline constexpr std::size_t word_alignment = 32;  // bytes

// Returns how many words the array of which so many are sorted has.
[[nodiscard]] constexpr std::size_t room_to_sort(std::size_t words) noexcept {
  constexpr std::size_t least = 64;
  return words <= least ? least : std::bit_ceil(words);
}

// Orders words[0..n) in place, n >= 1. `words` is aligned and has room_to_sort(n); what lies behind the first n is lost.
// Thread-safe.
using SortWords = void (*)(std::uint32_t* words, std::size_t n) noexcept;

// Sorts up to `most` words; of more, counting is faster.
struct WordSort {
  SortWords sort = nullptr;
  std::size_t most = 0;
};

// Returns that of the level; nothing where it has no vectors. `level` must not exceed detected_cpu_level().
[[nodiscard]] WordSort word_sort_of(CpuLevel level) noexcept;

void sort_words_avx2(std::uint32_t* words, std::size_t n) noexcept;
void sort_words_neon(std::uint32_t* words, std::size_t n) noexcept;

}  // namespace ecosort::sorting
