// Operations on bits (csv_kernels_body.h) of processors with PCLMUL and BMI2.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace {

struct Bmi2Bits {
  static std::uint64_t prefix_xor(std::uint64_t bits) noexcept {
    const __m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128(static_cast<long long>(bits)), _mm_set1_epi8('\xff'), 0);
    return static_cast<std::uint64_t>(_mm_cvtsi128_si64(product));
  }
  static std::size_t select(std::uint64_t bits, std::size_t n) noexcept {
    return static_cast<std::size_t>(__builtin_ctzll(_pdep_u64(std::uint64_t{1} << n, bits)));
  }
};

}  // namespace
