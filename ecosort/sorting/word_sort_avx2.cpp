#include <immintrin.h>

#include "sorting/word_sort_body.h"

namespace {

struct Avx2Words {
  using T = __m256i;
  static constexpr std::size_t width = 8;

  static T load(const std::uint32_t* at) noexcept { return _mm256_load_si256(reinterpret_cast<const T*>(at)); }
  static void store(std::uint32_t* at, T x) noexcept { _mm256_store_si256(reinterpret_cast<T*>(at), x); }
  static T low(T x, T y) noexcept { return _mm256_min_epu32(x, y); }
  static T high(T x, T y) noexcept { return _mm256_max_epu32(x, y); }
  static T reversed(T x) noexcept { return _mm256_permutevar8x32_epi32(x, _mm256_set_epi32(0, 1, 2, 3, 4, 5, 6, 7)); }

  // Words 4, 2 and 1 apart are exchanged in both vectors at once:  x 01234567   01230123   01450145   04260426   01234567
  //                                                                y 01234567   45674567   23672367   15371537   01234567
  [[gnu::always_inline]] static void sort_halves(T& x, T& y) noexcept {
    T a = _mm256_permute2x128_si256(x, y, 0x20), b = _mm256_permute2x128_si256(x, y, 0x31);
    exchange<Avx2Words>(a, b);
    T c = _mm256_unpacklo_epi64(a, b), d = _mm256_unpackhi_epi64(a, b);
    exchange<Avx2Words>(c, d);
    a = evens(c, d);
    b = odds(c, d);
    exchange<Avx2Words>(a, b);
    c = _mm256_unpacklo_epi32(a, b);
    d = _mm256_unpackhi_epi32(a, b);
    a = _mm256_unpacklo_epi64(c, d);
    b = _mm256_unpackhi_epi64(c, d);
    x = _mm256_permute2x128_si256(a, b, 0x20);
    y = _mm256_permute2x128_si256(a, b, 0x31);
  }

  [[gnu::always_inline]] static void transpose(T* v) noexcept {
    const T a = _mm256_unpacklo_epi32(v[0], v[1]), b = _mm256_unpackhi_epi32(v[0], v[1]), c = _mm256_unpacklo_epi32(v[2], v[3]),
            d = _mm256_unpackhi_epi32(v[2], v[3]), e = _mm256_unpacklo_epi32(v[4], v[5]), f = _mm256_unpackhi_epi32(v[4], v[5]),
            g = _mm256_unpacklo_epi32(v[6], v[7]), h = _mm256_unpackhi_epi32(v[6], v[7]);
    join(v[0], v[4], _mm256_unpacklo_epi64(a, c), _mm256_unpacklo_epi64(e, g));
    join(v[1], v[5], _mm256_unpackhi_epi64(a, c), _mm256_unpackhi_epi64(e, g));
    join(v[2], v[6], _mm256_unpacklo_epi64(b, d), _mm256_unpacklo_epi64(f, h));
    join(v[3], v[7], _mm256_unpackhi_epi64(b, d), _mm256_unpackhi_epi64(f, h));
  }

 private:
  static __m256 as_floats(T x) noexcept { return _mm256_castsi256_ps(x); }
  static T evens(T x, T y) noexcept { return _mm256_castps_si256(_mm256_shuffle_ps(as_floats(x), as_floats(y), 0x88)); }
  static T odds(T x, T y) noexcept { return _mm256_castps_si256(_mm256_shuffle_ps(as_floats(x), as_floats(y), 0xdd)); }
  // The lower halves of both, and their upper halves.
  [[gnu::always_inline]] static void join(T& lower, T& upper, T x, T y) noexcept {
    lower = _mm256_permute2x128_si256(x, y, 0x20);
    upper = _mm256_permute2x128_si256(x, y, 0x31);
  }
};

}  // namespace

namespace ecosort::sorting {

void sort_words_avx2(std::uint32_t* words, std::size_t n) noexcept { sort_words_over<Avx2Words>(words, n); }

}  // namespace ecosort::sorting
