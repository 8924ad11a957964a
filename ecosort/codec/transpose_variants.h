// The variants of the transposition, one per instruction set. AVX-512 has none of its own.
#pragma once

#include <cstddef>

namespace ecosort::codec {

void transpose_baseline(const std::byte* in, std::size_t rows, std::size_t columns, std::byte* out) noexcept;
void transpose_avx2(const std::byte* in, std::size_t rows, std::size_t columns, std::byte* out) noexcept;
void transpose_neon(const std::byte* in, std::size_t rows, std::size_t columns, std::byte* out) noexcept;

}  // namespace ecosort::codec
