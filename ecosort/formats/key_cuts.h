// Says where the rows of a shuffled run are cut, so that its parts can be merged at the same time. Random keys are spread evenly:
// the cuts are at the same keys in every run, and no one has to look for them.
#pragma once

#include <array>
#include <cstdint>

namespace ecosort::formats {

inline constexpr unsigned key_parts = 16;

// Returns the first eight bytes of the least key of a part.
[[nodiscard]] constexpr std::uint64_t least_prefix(unsigned part) noexcept { return (UINT64_MAX / key_parts + 1) * part; }

// Rows of a run with smaller keys, and their bytes in the run.
struct KeyCut {
  std::uint64_t rows = 0, bytes = 0;

  KeyCut& operator+=(const KeyCut& other) noexcept {
    rows += other.rows;
    bytes += other.bytes;
    return *this;
  }
};

// Counts the rows in front of each part, and, last, all rows.
using KeyCuts = std::array<KeyCut, key_parts + 1>;

}  // namespace ecosort::formats
