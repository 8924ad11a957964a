#include "formats/lines/number_window.h"

#include <bit>

#include "base/uint128.h"
#include "formats/lines/number_window_body.h"

namespace ecosort::lines {
namespace {

constexpr std::uint64_t upper_bits = 0x80 * each_byte;

// The first `count` bytes, fewer than 16.
uint128 first_bytes(std::size_t count) noexcept { return (uint128{1} << 8 * count) - 1; }

// Bit i: byte i is no digit.
std::uint32_t non_digits_of(std::uint64_t bytes) noexcept {
  const std::uint64_t seven_bits = bytes & ~upper_bits;
  const std::uint64_t above = seven_bits + (0x7f - '9') * each_byte, not_below = seven_bits + (0x80 - '0') * each_byte;
  const std::uint64_t found = (above | ~not_below | bytes) & upper_bits;
  return static_cast<std::uint32_t>((found >> 7U) * 0x0102040810204080U >> 56U);
}

// Four bytes 10 * tens + ones of eight digits.
std::uint32_t pairs_of(std::uint64_t digits) noexcept {
  constexpr std::uint64_t even = 0x00ff00ff00ff00ff;
  std::uint64_t pairs = (digits & even) * 10 + (digits >> 8U & even);
  pairs = (pairs | pairs >> 8U) & 0x0000ffff0000ffff;
  return static_cast<std::uint32_t>(pairs | pairs >> 16U);
}

// What every processor does.
class PlainDigits {
 public:
  PlainDigits(const char* at, std::size_t size) noexcept {
    const SixteenBytes bytes = load_beginning(at, size);
    bytes_ = make_uint128(bytes.high, bytes.low);
  }

  [[nodiscard]] std::uint32_t non_digits() const noexcept {
    return non_digits_of(low_half(bytes_)) | non_digits_of(high_half(bytes_)) << 8U | 1U << 16U;
  }

  [[nodiscard]] DigitPairs take(std::size_t count, std::size_t point) const noexcept {
    uint128 bytes = bytes_;
    if (point != no_point) {
      const uint128 before = first_bytes(point);
      bytes = (bytes & before) | (bytes >> 8U & ~before);
    }
    bytes &= first_bytes(count) & make_uint128(0x0f * each_byte, 0x0f * each_byte);
    const std::uint64_t low = low_half(bytes), high = high_half(bytes);
    const auto zeros = static_cast<std::size_t>(high != 0 ? std::countl_zero(high) : 64 + std::countl_zero(low));
    return {__builtin_bswap64(std::uint64_t{pairs_of(high)} << 32U | pairs_of(low)), 16 - zeros / 8};
  }

 private:
  uint128 bytes_ = 0;
};

}  // namespace

NumberReader number_reader_of(records::CpuLevel level) noexcept {
#if defined(__x86_64__)
  if (level != records::CpuLevel::baseline) return read_number_avx2;
#endif
  static_cast<void>(level);
  return read_number<PlainDigits>;
}

bool read_number_window(Text text, NumberWindow& number) noexcept {
  static const NumberReader read = number_reader_of(records::cpu_level());
  return read(text.data(), text.size(), number);
}

std::optional<records::KeyWindow> number_window(Text text) noexcept {
  NumberWindow number;
  if (!read_number_window(text, number)) return std::nullopt;
  return number.key_window();
}

}  // namespace ecosort::lines
