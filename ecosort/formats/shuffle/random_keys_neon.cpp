#include <arm_neon.h>

#include "formats/shuffle/random_keys_kernel.h"

namespace {

struct NeonWords {
  using T = uint32x4_t;
  static constexpr std::size_t width = 4;

  static T set(std::uint64_t word) noexcept { return vdupq_n_u32(static_cast<std::uint32_t>(word)); }
  static Halves<NeonWords> numbers(std::uint64_t number) noexcept {
    const uint64x2_t first = vcombine_u64(vcreate_u64(number), vcreate_u64(number + 1));
    return halves(first, vaddq_u64(first, vdupq_n_u64(2)));
  }
  static Halves<NeonWords> product(T a, T b) noexcept {
    return halves(vmull_u32(vget_low_u32(a), vget_low_u32(b)), vmull_high_u32(a, b));
  }
  static T exclusive_or(T a, T b) noexcept { return veorq_u32(a, b); }
  static void join(T a, T b, std::uint64_t* to) noexcept {
    vst1q_u64(to, vreinterpretq_u64_u32(vzip1q_u32(b, a)));
    vst1q_u64(to + 2, vreinterpretq_u64_u32(vzip2q_u32(b, a)));
  }
  static void store(T lanes, std::uint64_t* to) noexcept { join(lanes, lanes, to); }

 private:
  static Halves<NeonWords> halves(uint64x2_t x, uint64x2_t y) noexcept {
    const T a = vreinterpretq_u32_u64(x), b = vreinterpretq_u32_u64(y);
    return {vuzp1q_u32(a, b), vuzp2q_u32(a, b)};
  }
};

}  // namespace

namespace ecosort::shuffle {

std::size_t enter_keys_neon(sorting::Entry* top, std::size_t rows, std::uint64_t number,
                            std::array<std::uint32_t, 2> key) noexcept {
  return enter_keys<NeonWords>(top, rows, number, key);
}

}  // namespace ecosort::shuffle
