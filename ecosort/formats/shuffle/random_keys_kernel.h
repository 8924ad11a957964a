// The generator of random_keys.h for several rows at a time, compiled once per instruction set over a type L of lanes of 64 bits,
// of which each has a word of 32 bits: what is above it is of no use, and no one clears it.
//
//   set(word), first(number)     in all lanes; number, number + 1 ... in them, `number` with its upper half
//   product(a, b)                of the words, 64 bits
//   high(x)                      the upper half as a word
//   exclusive_or(a, b)
//   store(lanes, to)
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
PhiloxLanes<L> philox_lanes(std::uint64_t number, std::array<std::uint32_t, 2> key) noexcept {
  using ecosort::shuffle::PhiloxTerms;
  const auto first_factor = L::set(PhiloxTerms::factors[0]), second_factor = L::set(PhiloxTerms::factors[1]);
  auto a = L::first(number), b = L::high(a), c = L::set(0), d = L::set(0);
  for (unsigned round = 0; round < PhiloxTerms::rounds; ++round) {
    const auto first = L::product(a, first_factor), second = L::product(c, second_factor);
    a = L::exclusive_or(L::exclusive_or(L::high(second), b), L::set(key[0]));
    b = second;
    c = L::exclusive_or(L::exclusive_or(L::high(first), d), L::set(key[1]));
    d = first;
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
    std::uint64_t a[L::width], b[L::width], c[L::width];
    L::store(lanes.a, a);
    L::store(lanes.b, b);
    L::store(lanes.c, c);
    for (std::size_t i = 0; i < L::width; ++i) {
      ecosort::sorting::Entry& entry = *(top - 1 - done - i);
      entry.prefix = a[i] << 32U | static_cast<std::uint32_t>(b[i]);
      entry.extension = static_cast<std::uint32_t>(c[i]);
    }
  }
  return done;
}

}  // namespace
