// The body of sort_words, compiled once per instruction set over a type V of its vectors of V::width words:
//
//   V::load(at), V::store(at, x)    aligned
//   V::low(x, y), V::high(x, y)     the smaller and the larger words
//   V::reversed(x)
//   V::sort_halves(x, y)            sorts each of two vectors, whose words rise and then fall, or are a rotation of such ones
//   V::transpose(v)                 eight vectors, of which column i is sorted from above, become sorted sequences of eight words
//
// Blocks of eight vectors are sorted in registers: their columns by a network, what these are then by merges. Blocks are merged
// in memory. A merge is bitonic (Batcher, 1968): one sequence is turned around, and what is half as far apart each time is
// exchanged. Nothing depends on the words, so that no branch is mispredicted.
//
// Everything here has internal linkage, so that no function compiled for a newer processor can replace the plain one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "sorting/word_sort.h"

namespace {

constexpr std::size_t block_vectors = 8, sequence_words = 8;

template <class V>
using Vector = typename V::T;

template <class V>
[[gnu::always_inline]] inline void exchange(Vector<V>& x, Vector<V>& y) noexcept {
  const Vector<V> low = V::low(x, y);
  y = V::high(x, y);
  x = low;
}

// Orders the columns: Batcher's network of 19 exchanges for eight.
template <class V>
[[gnu::always_inline]] inline void sort_columns(Vector<V>* v) noexcept {
  exchange<V>(v[0], v[2]), exchange<V>(v[1], v[3]), exchange<V>(v[4], v[6]), exchange<V>(v[5], v[7]);
  exchange<V>(v[0], v[4]), exchange<V>(v[1], v[5]), exchange<V>(v[2], v[6]), exchange<V>(v[3], v[7]);
  exchange<V>(v[0], v[1]), exchange<V>(v[2], v[3]), exchange<V>(v[4], v[5]), exchange<V>(v[6], v[7]);
  exchange<V>(v[2], v[4]), exchange<V>(v[3], v[5]);
  exchange<V>(v[1], v[4]), exchange<V>(v[3], v[6]);
  exchange<V>(v[1], v[2]), exchange<V>(v[3], v[4]), exchange<V>(v[5], v[6]);
}

// Sorts `n` vectors whose words are one bitonic sequence.
template <class V, std::size_t n>
[[gnu::always_inline]] inline void sort_bitonic(Vector<V>* v) noexcept {
  if constexpr (n == 2) {
    exchange<V>(v[0], v[1]);
    V::sort_halves(v[0], v[1]);
  } else {
    exchange<V>(v[0], v[n / 2]), exchange<V>(v[1], v[n / 2 + 1]);
    if constexpr (n == 8) exchange<V>(v[2], v[6]), exchange<V>(v[3], v[7]);
    sort_bitonic<V, n / 2>(v);
    sort_bitonic<V, n / 2>(v + n / 2);
  }
}

// Merges two sorted halves of n vectors.
template <class V, std::size_t n>
[[gnu::always_inline]] inline void merge_halves(Vector<V>* v) noexcept {
  if constexpr (n == 2) {
    v[1] = V::reversed(v[1]);
  } else if constexpr (n == 4) {
    const Vector<V> third = V::reversed(v[3]);
    v[3] = V::reversed(v[2]);
    v[2] = third;
  } else {
    const Vector<V> fifth = V::reversed(v[7]), sixth = V::reversed(v[6]);
    v[7] = V::reversed(v[4]);
    v[6] = V::reversed(v[5]);
    v[5] = sixth;
    v[4] = fifth;
  }
  sort_bitonic<V, n>(v);
}

template <class V>
[[gnu::always_inline]] inline void load_block(Vector<V>* v, const std::uint32_t* words) noexcept {
#pragma GCC unroll 8
  for (std::size_t i = 0; i < block_vectors; ++i) v[i] = V::load(words + i * V::width);
}
template <class V>
[[gnu::always_inline]] inline void store_block(std::uint32_t* words, const Vector<V>* v) noexcept {
#pragma GCC unroll 8
  for (std::size_t i = 0; i < block_vectors; ++i) V::store(words + i * V::width, v[i]);
}

template <class V>
inline void sort_block(std::uint32_t* words) noexcept {
  Vector<V> v[block_vectors];
  load_block<V>(v, words);
  sort_columns<V>(v);
  V::transpose(v);
  if constexpr (V::width == sequence_words) {
    merge_halves<V, 2>(v), merge_halves<V, 2>(v + 2), merge_halves<V, 2>(v + 4), merge_halves<V, 2>(v + 6);
  }
  merge_halves<V, 4>(v), merge_halves<V, 4>(v + 4);
  merge_halves<V, 8>(v);
  store_block<V>(words, v);
}

// Merges two sorted sequences of `half` words each, a power of two, at least a block.
template <class V>
inline void merge_blocks(std::uint32_t* words, std::size_t half) noexcept {
  for (std::size_t i = 0, j = 2 * half - V::width; i < half; i += V::width, j -= V::width) {
    const Vector<V> x = V::load(words + i), y = V::load(words + j), turned = V::reversed(y);
    V::store(words + i, V::low(x, turned));
    V::store(words + j, V::reversed(V::high(x, turned)));
  }
  constexpr std::size_t block = block_vectors * V::width;
  for (std::size_t apart = half / 2; apart >= block; apart /= 2)
    for (std::size_t begin = 0; begin < 2 * half; begin += 2 * apart)
      for (std::size_t i = begin; i < begin + apart; i += V::width) {
        Vector<V> x = V::load(words + i), y = V::load(words + i + apart);
        exchange<V>(x, y);
        V::store(words + i, x);
        V::store(words + i + apart, y);
      }
  for (std::size_t i = 0; i < 2 * half; i += block) {
    Vector<V> v[block_vectors];
    load_block<V>(v, words + i);
    sort_bitonic<V, block_vectors>(v);
    store_block<V>(words + i, v);
  }
}

// Sequences that are merged are equally long: where the last one is shorter, or is not there, the largest words there are follow.
template <class V>
inline void sort_words_over(std::uint32_t* words, std::size_t n) noexcept {
  constexpr std::size_t block = block_vectors * V::width;
  std::size_t all = n;
  const auto fill_up = [&](std::size_t step) {
    const std::size_t end = (all + step - 1) / step * step;
    std::fill(words + all, words + end, ~std::uint32_t{0});
    all = end;
  };
  fill_up(block);
  for (std::size_t i = 0; i < all; i += block) sort_block<V>(words + i);
  for (std::size_t half = block; half < n; half *= 2) {
    fill_up(2 * half);
    for (std::size_t i = 0; i < all; i += 2 * half) merge_blocks<V>(words + i, half);
  }
}

}  // namespace
