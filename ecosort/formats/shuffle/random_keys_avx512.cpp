#include <immintrin.h>

#include "formats/shuffle/random_keys_kernel.h"

namespace {

struct Avx512Words {
  using T = __m512i;
  static constexpr std::size_t width = 8;

  static T set(std::uint64_t word) noexcept { return _mm512_set1_epi64(static_cast<long long>(word)); }
  static Halves<Avx512Words> numbers(std::uint64_t number) noexcept {
    return halves(_mm512_add_epi64(set(number), _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0)));
  }
  static Halves<Avx512Words> product(T a, T b) noexcept { return halves(_mm512_mul_epu32(a, b)); }
  static T exclusive_or(T a, T b) noexcept { return _mm512_xor_si512(a, b); }
  static void join(T a, T b, std::uint64_t* to) noexcept {
    store(_mm512_mask_blend_epi32(0xaaaa, b, _mm512_slli_epi64(a, 32)), to);
  }
  static void store(T lanes, std::uint64_t* to) noexcept { _mm512_storeu_si512(to, lanes); }

 private:
  static Halves<Avx512Words> halves(T x) noexcept { return {x, _mm512_srli_epi64(x, 32)}; }
};

}  // namespace

namespace ecosort::shuffle {

std::size_t enter_keys_avx512(sorting::Entry* top, std::size_t rows, std::uint64_t number,
                              std::array<std::uint32_t, 2> key) noexcept {
  return enter_keys<Avx512Words>(top, rows, number, key);
}

}  // namespace ecosort::shuffle
