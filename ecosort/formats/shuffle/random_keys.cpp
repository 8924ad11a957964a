#include "formats/shuffle/random_keys.h"

#include <algorithm>

#include "sorting/parallel_parts.h"

namespace ecosort::shuffle {

PhiloxBlock philox(PhiloxBlock counter, std::array<std::uint32_t, 2> key) noexcept {
  constexpr unsigned rounds = 10;
  constexpr std::uint64_t multipliers[] = {0xd2511f53, 0xcd9e8d57};
  constexpr std::uint32_t steps[] = {0x9e3779b9, 0xbb67ae85};
  for (unsigned round = 0; round < rounds; ++round) {
    const std::uint64_t first = multipliers[0] * counter[0], second = multipliers[1] * counter[2];
    counter = {static_cast<std::uint32_t>(second >> 32U) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(second),
               static_cast<std::uint32_t>(first >> 32U) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(first)};
    key[0] += steps[0];
    key[1] += steps[1];
  }
  return counter;
}

void RandomKeys::enter(sorting::Entry* top, std::size_t first, std::size_t end, std::uint64_t number, unsigned threads) const {
  constexpr std::size_t least_rows = 1024;  // of a part: to wake a thread for fewer costs more than their keys
  const std::size_t rows = end - first, parts = std::clamp<std::size_t>(rows / least_rows, 1, threads);
  sorting::for_each_part(threads, parts, [&](std::size_t part) {
    const std::size_t part_end = sorting::part_begin(rows, parts, part + 1);
    for (std::size_t i = sorting::part_begin(rows, parts, part); i < part_end; ++i) {
      const records::KeyWindow key = of(number + i);
      sorting::Entry& entry = *(top - 1 - first - i);
      entry.prefix = key.prefix;
      entry.extension = key.extension;
    }
  });
}

}  // namespace ecosort::shuffle
