#include <arm_neon.h>

#include "sorting/word_sort_body.h"

namespace {

struct NeonWords {
  using T = uint32x4_t;
  static constexpr std::size_t width = 4;

  static T load(const std::uint32_t* at) noexcept { return vld1q_u32(at); }
  static void store(std::uint32_t* at, T x) noexcept { vst1q_u32(at, x); }
  static T low(T x, T y) noexcept { return vminq_u32(x, y); }
  static T high(T x, T y) noexcept { return vmaxq_u32(x, y); }
  static T reversed(T x) noexcept {
    const T pairs = vrev64q_u32(x);
    return vextq_u32(pairs, pairs, 2);
  }

  // Words 2 and 1 apart are exchanged in both vectors at once:  x 0123   0101   0022   0101   0123
  //                                                             y 0123   2323   1133   2323   0123
  [[gnu::always_inline]] static void sort_halves(T& x, T& y) noexcept {
    T a = first_halves(x, y), b = second_halves(x, y);
    exchange<NeonWords>(a, b);
    T c = vuzp1q_u32(a, b), d = vuzp2q_u32(a, b);
    exchange<NeonWords>(c, d);
    a = vzip1q_u32(c, d);
    b = vzip2q_u32(c, d);
    x = first_halves(a, b);
    y = second_halves(a, b);
  }

  [[gnu::always_inline]] static void transpose(T* v) noexcept {
    T upper[4], lower[4];
    transpose_four(v, upper);
    transpose_four(v + 4, lower);
#pragma GCC unroll 4
    for (std::size_t i = 0; i < 4; ++i) {
      v[2 * i] = upper[i];
      v[2 * i + 1] = lower[i];
    }
  }

 private:
  static T first_halves(T x, T y) noexcept {
    return vreinterpretq_u32_u64(vzip1q_u64(vreinterpretq_u64_u32(x), vreinterpretq_u64_u32(y)));
  }
  static T second_halves(T x, T y) noexcept {
    return vreinterpretq_u32_u64(vzip2q_u64(vreinterpretq_u64_u32(x), vreinterpretq_u64_u32(y)));
  }
  [[gnu::always_inline]] static void transpose_four(const T* rows, T* columns) noexcept {
    const T a = vtrn1q_u32(rows[0], rows[1]), b = vtrn2q_u32(rows[0], rows[1]), c = vtrn1q_u32(rows[2], rows[3]),
            d = vtrn2q_u32(rows[2], rows[3]);
    columns[0] = first_halves(a, c);
    columns[1] = first_halves(b, d);
    columns[2] = second_halves(a, c);
    columns[3] = second_halves(b, d);
  }
};

}  // namespace

namespace ecosort::sorting {

void sort_words_neon(std::uint32_t* words, std::size_t n) noexcept { sort_words_over<NeonWords>(words, n); }

}  // namespace ecosort::sorting
