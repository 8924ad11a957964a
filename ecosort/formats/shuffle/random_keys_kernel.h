// The generator of random_keys.h for several rows at a time, compiled once per instruction set over a type L of lanes, each of
// which has a word of 32 bits. Lanes may be wider: what is above the word is then of no use, and no one clears it.
//
//   set(word)                    in all lanes
//   numbers(number)              number, number + 1 ... in the lanes, their lower and upper halves
//   product(a, b)                of the words, its lower and upper half
//   exclusive_or(a, b)
//   join(a, b, to)               stores numbers of two words, a above b
//   store(c, to)                 stores numbers of 64 bits whose lower half is the word
//
// Everything here has internal linkage, so that no function compiled for a newer processor can replace the plain one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "formats/shuffle/random_keys.h"

namespace {

// The four words of L::width rows, of which the last one is in no key.
template <class L>
struct PhiloxLanes {
  typename L::T a, b, c;
};

template <class L>
struct Halves {
  typename L::T low, high;
};

template <class L>
PhiloxLanes<L> philox_lanes(std::uint64_t number, std::array<std::uint32_t, 2> key) noexcept {
  using ecosort::shuffle::PhiloxTerms;
  const auto first_factor = L::set(PhiloxTerms::factors[0]), second_factor = L::set(PhiloxTerms::factors[1]);
  auto [a, b] = L::numbers(number);
  auto c = L::set(0), d = L::set(0);
  for (unsigned round = 0; round < PhiloxTerms::rounds; ++round) {
    const auto first = L::product(a, first_factor), second = L::product(c, second_factor);
    a = L::exclusive_or(L::exclusive_or(second.high, b), L::set(key[0]));
    b = second.low;
    c = L::exclusive_or(L::exclusive_or(first.high, d), L::set(key[1]));
    d = first.low;
    key[0] += PhiloxTerms::steps[0];
    key[1] += PhiloxTerms::steps[1];
  }
  return {a, b, c};
}

// Gives keys to `rows` entries downwards from `top`, as many of them as are whole multiples of the lanes. Returns how many.
template <class L>
std::size_t enter_keys(ecosort::sorting::Entry* top, std::size_t rows, std::uint64_t number,
                       std::array<std::uint32_t, 2> key) noexcept {
  std::size_t done = 0;
  for (; done + L::width <= rows; done += L::width) {
    const PhiloxLanes<L> lanes = philox_lanes<L>(number + done, key);
    std::uint64_t prefixes[L::width], extensions[L::width];
    L::join(lanes.a, lanes.b, prefixes);
    L::store(lanes.c, extensions);
    for (std::size_t i = 0; i < L::width; ++i) {
      ecosort::sorting::Entry& entry = *(top - 1 - done - i);
      entry.prefix = prefixes[i];
      entry.extension = static_cast<std::uint32_t>(extensions[i]);
    }
  }
  return done;
}

}  // namespace
