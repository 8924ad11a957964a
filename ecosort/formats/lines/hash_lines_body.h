// Hashes of lines: bodies over the vectors V of line_kernels_body.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "formats/lines/line_kernels.h"
#include "hash/multiset_hash_kernel.h"

namespace {

using ecosort::lines::LineHash;

struct LineSums {
  std::uint64_t a = 0, b = 0;
};

constexpr std::uint64_t finish_factor = 0x9fb21c651e98df25U;

inline std::uint64_t finished(std::uint64_t sum) noexcept {
  sum = (sum ^ sum >> 32U) * finish_factor;
  return sum ^ sum >> 29U;
}

inline void add_chunk(LineHash& hash, LineSums sums, std::size_t size, std::size_t chunk) noexcept {
  hash.low += finished(sums.a + size * size_a + chunk * size_b);
  hash.high += finished(sums.b + size * size_b + chunk * size_a);
}

inline void add_word(LineSums& sums, std::uint64_t word, std::uint64_t key_a, std::uint64_t key_b) noexcept {
  sums.a += PlainLanes::product_of_halves(word, key_a);
  sums.b += PlainLanes::product_of_halves(word, key_b);
}

// Adds the last chunk, of 2 to chunk_words whole words from word `first` on, with the last eight bytes once more.
template <class V>
[[gnu::always_inline]] inline void add_last_chunk(LineHash& hash, const char* line, std::size_t size,
                                                  std::size_t first) noexcept {
  LineSums sums = V::sums(line + first * word_bytes, size / word_bytes - first);
  add_word(sums, PlainLanes::load(line + size - word_bytes), hash_keys.tail_a, hash_keys.tail_b);
  add_chunk(hash, sums, size, first);
}

// Whole words, 1 KiB of them with one table of keys, and the last eight bytes once more; below eight bytes one padded word.
template <class V>
inline LineHash hash_line(const char* line, std::size_t size) noexcept {
  LineHash hash;
  LineSums sums;
  if (size < word_bytes) [[unlikely]] {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < size; ++i) word |= std::uint64_t{static_cast<unsigned char>(line[i])} << 8 * i;
    add_word(sums, word, hash_keys.tail_a, hash_keys.tail_b);
    add_chunk(hash, sums, size, 0);
    return hash;
  }
  const std::size_t words = size / word_bytes;
  std::size_t first = 0;
  if (words == 1) {
    add_word(sums, PlainLanes::load(line), hash_keys.a[0], hash_keys.b[0]);
    add_word(sums, PlainLanes::load(line + size - word_bytes), hash_keys.tail_a, hash_keys.tail_b);
    add_chunk(hash, sums, size, 0);
    return hash;
  }
  for (; words - first > chunk_words; first += chunk_words)
    add_chunk(hash, V::sums(line + first * word_bytes, chunk_words), size, first);
  add_last_chunk<V>(hash, line, size, first);
  return hash;
}

// Stays in registers: who adds the hashes of calls stores two words and loads them as one, which has to wait for both stores.
template <class V>
LineHash sum_one_by_one(const ecosort::lines::LinePlace* lines, std::size_t count) noexcept {
  LineHash sum;
  for (std::size_t i = 0; i < count; ++i) {
    const LineHash hash = hash_line<V>(lines[i].begin, lines[i].size);
    sum.low += hash.low;
    sum.high += hash.high;
  }
  return sum;
}

inline bool are_usual(const ecosort::lines::LinePlace* four) noexcept {
  bool are = true;
  for (std::size_t i = 0; i < 4; ++i) are &= four[i].size / word_bytes - 2 <= chunk_words - 2;
  return are;
}

template <class V>
LineHash sum_of_hashes(const ecosort::lines::LinePlace* lines, std::size_t count) noexcept {
  if constexpr (!requires { typename V::Fours; }) {
    return sum_one_by_one<V>(lines, count);
  } else {
    LineHash sum;
    const auto add = [&sum](LineHash hash) {
      sum.low += hash.low;
      sum.high += hash.high;
    };
    typename V::Fours fours{};
    std::size_t i = 0;
    while (count - i >= 4) {
      if (are_usual(lines + i)) [[likely]] {
        V::add_four(lines + i, fours);
        i += 4;
      } else {
        const std::size_t some = std::min<std::size_t>(count - i, 16);  // four: 13 instead of 11 ns for integers as text
        add(sum_one_by_one<V>(lines + i, some));
        i += some;
      }
    }
    add(sum_one_by_one<V>(lines + i, count - i));
    const LineSums total = V::total_of(fours);
    add({total.a, total.b});
    return sum;
  }
}

}  // namespace
