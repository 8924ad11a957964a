#include "formats/shuffle/random_keys.h"

#include <algorithm>

#include "sorting/parallel_parts.h"

namespace ecosort::shuffle {

PhiloxBlock philox(PhiloxBlock counter, std::array<std::uint32_t, 2> key) noexcept {
  using Terms = PhiloxTerms;
  for (unsigned round = 0; round < Terms::rounds; ++round) {
    const std::uint64_t first = Terms::factors[0] * counter[0], second = Terms::factors[1] * counter[2];
    counter = {static_cast<std::uint32_t>(second >> 32U) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(second),
               static_cast<std::uint32_t>(first >> 32U) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(first)};
    key[0] += Terms::steps[0];
    key[1] += Terms::steps[1];
  }
  return counter;
}

KeysOfRows keys_of_rows(CpuLevel level) noexcept {
#if defined(__x86_64__)
  if (level >= CpuLevel::avx512) return enter_keys_avx512;
  if (level >= CpuLevel::avx2) return enter_keys_avx2;
#elif defined(__aarch64__)
  if (level == CpuLevel::neon) return enter_keys_neon;
#endif
  static_cast<void>(level);
  return [](sorting::Entry*, std::size_t, std::uint64_t, std::array<std::uint32_t, 2>) noexcept { return std::size_t{0}; };
}

void RandomKeys::enter(sorting::Entry* top, std::size_t first, std::size_t end, std::uint64_t number, unsigned threads) const {
  constexpr std::size_t least_rows = 1024;  // of a part: to wake a thread for fewer costs more than their keys
  static const KeysOfRows enter_some = keys_of_rows(cpu_level());
  const std::size_t rows = end - first, parts = std::clamp<std::size_t>(rows / least_rows, 1, threads);
  sorting::for_each_part(threads, parts, [&](std::size_t part) {
    const std::size_t part_end = sorting::part_begin(rows, parts, part + 1);
    std::size_t i = sorting::part_begin(rows, parts, part);
    for (i += enter_some(top - first - i, part_end - i, number + i, key_); i < part_end; ++i) {
      const records::KeyWindow key = of(number + i);
      sorting::Entry& entry = *(top - 1 - first - i);
      entry.prefix = key.prefix;
      entry.extension = key.extension;
    }
  });
}

}  // namespace ecosort::shuffle
