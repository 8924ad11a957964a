#include <immintrin.h>

#include "codec/transpose_kernel.h"
#include "codec/transpose_sse2.h"
#include "codec/transpose_variants.h"

namespace ecosort::codec {
namespace {

// Row r in the lower lane, row r + 16 in the upper one: a column of both is 32 bytes in a row.
struct Avx2Bytes {
  using T = __m256i;
  using Half = Sse2Bytes;
  static constexpr std::size_t lanes = 2;

  static T load(const std::byte* from, std::size_t apart) noexcept {
    return _mm256_inserti128_si256(_mm256_castsi128_si256(Half::load(from, 0)), Half::load(from + apart, 0), 1);
  }
  static T interleave_low(T x, T y) noexcept { return _mm256_unpacklo_epi8(x, y); }
  static T interleave_high(T x, T y) noexcept { return _mm256_unpackhi_epi8(x, y); }
  static void store(std::byte* to, T x) noexcept { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), x); }
};

}  // namespace

void transpose_avx2(const std::byte* in, std::size_t rows, std::size_t columns, std::byte* out) noexcept {
  transpose_with<Avx2Bytes>(in, rows, columns, out);
}

}  // namespace ecosort::codec
