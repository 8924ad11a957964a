// Byte transposition brings together what is at the same place of all records of a block, where codecs find it alike.
//
//   records   a0 a1 a2 | b0 b1 b2 | c0 c1 c2          columns   a0 b0 c0 | a1 b1 c1 | a2 b2 c2
//
// The way back is the same with the sides changed. (After the idea of column stores; of blocks of numbers Blosc made it known.)
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/cpu_features.h"

namespace ecosort::codec {

// out[c * rows + r] = in[r * columns + c]: both have rows * columns bytes and do not overlap. Thread-safe.
void transpose(const std::byte* in, std::size_t rows, std::size_t columns, std::byte* out);

using TransposeFunction = void (*)(const std::byte* in, std::size_t rows, std::size_t columns, std::byte* out) noexcept;

// The variant of an instruction set that this machine has. The baseline of x86-64 is SSE2.
[[nodiscard]] TransposeFunction transpose_variant(CpuLevel level) noexcept;

// One byte after the other: for other architectures, and to compare with.
void transpose_plainly(const std::byte* in, std::size_t rows, std::size_t columns, std::byte* out) noexcept;

}  // namespace ecosort::codec
