// The tests of the record kernels share reproducible random bytes in heap blocks of exactly their size, so that the address
// sanitizer sees any access beyond them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "base/cpu_features.h"

namespace ecosort::records {

using Bytes = std::unique_ptr<std::byte[]>;

// `symbols` different byte values, spread from 0 to 255.
inline Bytes random_bytes(std::size_t size, std::mt19937_64& random, std::uint64_t symbols = 256) {
  auto data = std::make_unique<std::byte[]>(size);
  for (std::size_t i = 0; i < size; ++i) data[i] = static_cast<std::byte>(random() % symbols * (255 / (symbols - 1)));
  return data;
}

inline std::vector<CpuLevel> available_cpu_levels() {
  std::vector<CpuLevel> levels;
  for (const CpuLevel level : all_cpu_levels) {
    if (level <= detected_cpu_level()) levels.push_back(level);
  }
  return levels;
}

inline void flip_bit(std::byte* data, std::size_t bit) { data[bit / 8] ^= std::byte{1} << (bit % 8); }

}  // namespace ecosort::records
