#include <arm_neon.h>

#include "base/neon_bits.h"
#include "formats/lines/number_window_body.h"

namespace {

// All masks of the bytes are made at once, as their way to a word is the longest part.
class NeonDigits {
 public:
  NeonDigits(const char* at, std::size_t size) noexcept {
    const SixteenBytes loaded = load_beginning(at, size);
    const uint8x16_t bytes = vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(loaded.low), vcreate_u64(loaded.high)));
    digits_ = vsubq_u8(bytes, vdupq_n_u8('0'));
    masks_ = ecosort::bits_of(vcleq_u8(digits_, vdupq_n_u8(9)), vceqq_u8(digits_, vdupq_n_u8(0)),
                              vceqq_u8(bytes, vdupq_n_u8('.')), vcgeq_u8(bytes, vdupq_n_u8(0x80)));
    minus_ = static_cast<unsigned char>(loaded.low) == '-' ? 1 : 0;
  }

  [[nodiscard]] std::uint32_t digits() const noexcept { return static_cast<std::uint16_t>(masks_); }
  [[nodiscard]] std::uint32_t zeros() const noexcept { return static_cast<std::uint16_t>(masks_ >> 16U); }
  [[nodiscard]] std::uint32_t minus() const noexcept { return minus_; }
  [[nodiscard]] std::uint32_t points() const noexcept { return static_cast<std::uint16_t>(masks_ >> 32U); }
  [[nodiscard]] std::uint32_t high() const noexcept { return static_cast<std::uint16_t>(masks_ >> 48U); }

  [[nodiscard]] std::uint64_t take(DigitPlaces places) const noexcept {
    alignas(16) static constexpr std::uint8_t numbers[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const uint8x16_t before_point = vaddq_u8(vld1q_u8(numbers), splat(places.begin));
    // To take away a mask, 255, adds one: the point is passed over.
    const uint8x16_t from = vsubq_u8(before_point, vcgeq_u8(before_point, splat(places.whole_end)));
    const uint8x16_t digits = vandq_u8(vqtbl1q_u8(digits_, from), vcltq_u8(from, splat(places.end)));
    const uint8x8_t tens = vget_low_u8(vuzp1q_u8(digits, digits)), ones = vget_low_u8(vuzp2q_u8(digits, digits));
    return __builtin_bswap64(vget_lane_u64(vreinterpret_u64_u8(vmla_u8(ones, tens, vdup_n_u8(10))), 0));
  }

 private:
  static uint8x16_t splat(unsigned value) noexcept { return vdupq_n_u8(static_cast<std::uint8_t>(value)); }

  uint8x16_t digits_;
  std::uint64_t masks_;
  std::uint32_t minus_;
};

}  // namespace

namespace ecosort::lines {

NumberWindow read_number_neon(const char* text, std::size_t size) noexcept { return read_number<NeonDigits>(text, size); }

}  // namespace ecosort::lines
