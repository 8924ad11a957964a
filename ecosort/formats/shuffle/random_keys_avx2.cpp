#include <immintrin.h>

#include "formats/shuffle/random_keys_kernel.h"

namespace {

struct Avx2Words {
  using T = __m256i;
  static constexpr std::size_t width = 4;

  static T set(std::uint64_t word) noexcept { return _mm256_set1_epi64x(static_cast<long long>(word)); }
  static Halves<Avx2Words> numbers(std::uint64_t number) noexcept {
    return halves(_mm256_add_epi64(set(number), _mm256_set_epi64x(3, 2, 1, 0)));
  }
  static Halves<Avx2Words> product(T a, T b) noexcept { return halves(_mm256_mul_epu32(a, b)); }
  static T exclusive_or(T a, T b) noexcept { return _mm256_xor_si256(a, b); }
  static void join(T a, T b, std::uint64_t* to) noexcept { store(_mm256_blend_epi32(b, _mm256_slli_epi64(a, 32), 0xaa), to); }
  static void store(T lanes, std::uint64_t* to) noexcept { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), lanes); }

 private:
  static Halves<Avx2Words> halves(T x) noexcept { return {x, _mm256_srli_epi64(x, 32)}; }
};

}  // namespace

namespace ecosort::shuffle {

std::size_t enter_keys_avx2(sorting::Entry* top, std::size_t rows, std::uint64_t number,
                            std::array<std::uint32_t, 2> key) noexcept {
  return enter_keys<Avx2Words>(top, rows, number, key);
}

}  // namespace ecosort::shuffle
