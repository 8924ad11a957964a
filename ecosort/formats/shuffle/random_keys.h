// The generator of a shuffle: "ecosort-shuffle/1". Rows are in the order of random keys, and the key of a row is a function of
// the seed and of the row's number in the whole input alone. So memory, threads, machine and the borders of files change nothing.
//
//   key of row n = the first 96 bits of Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3,
//                  2011), its counter n, its key the seed
//
// Rows with equal keys stay in input order. Of n rows any two have equal keys with a probability of n^2 / 2^97: 10^-11 for 10^9
// rows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/cpu_features.h"
#include "formats/records/encoder.h"
#include "sorting/entry.h"

namespace ecosort::shuffle {

inline constexpr std::string_view generator_name = "ecosort-shuffle/1";

using PhiloxBlock = std::array<std::uint32_t, 4>;

struct PhiloxTerms {
  static constexpr unsigned rounds = 10;
  static constexpr std::uint64_t factors[] = {0xd2511f53, 0xcd9e8d57};
  static constexpr std::uint32_t steps[] = {0x9e3779b9, 0xbb67ae85};
};
[[nodiscard]] PhiloxBlock philox(PhiloxBlock counter, std::array<std::uint32_t, 2> key) noexcept;

// Gives keys to some of `rows` entries, the first ones, downwards from `top`, which have the numbers from `number` on. Returns
// how many.
using KeysOfRows = std::size_t (*)(sorting::Entry* top, std::size_t rows, std::uint64_t number,
                                   std::array<std::uint32_t, 2> key) noexcept;

// Returns that of a level, which must not exceed detected_cpu_level(); all give the same keys.
[[nodiscard]] KeysOfRows keys_of_rows(CpuLevel level) noexcept;
[[nodiscard]] std::size_t enter_keys_avx2(sorting::Entry* top, std::size_t rows, std::uint64_t number,
                                          std::array<std::uint32_t, 2> key) noexcept;
[[nodiscard]] std::size_t enter_keys_avx512(sorting::Entry* top, std::size_t rows, std::uint64_t number,
                                            std::array<std::uint32_t, 2> key) noexcept;
[[nodiscard]] std::size_t enter_keys_neon(sorting::Entry* top, std::size_t rows, std::uint64_t number,
                                          std::array<std::uint32_t, 2> key) noexcept;

class RandomKeys {
 public:
  explicit RandomKeys(std::uint64_t seed) noexcept
      : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U)} {}

  // Returns the key of the row with this number, which counts from 0.
  [[nodiscard]] records::KeyWindow of(std::uint64_t row) const noexcept {
    const PhiloxBlock bits = philox({static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(row >> 32U), 0, 0}, key_);
    return {std::uint64_t{bits[0]} << 32U | bits[1], bits[2]};
  }

  // Gives keys to the rows [first, end) of an index that is made downwards from `top`; row `first` has the number `number`.
  void enter(sorting::Entry* top, std::size_t first, std::size_t end, std::uint64_t number, unsigned threads) const;

 private:
  std::array<std::uint32_t, 2> key_;
};

}  // namespace ecosort::shuffle
