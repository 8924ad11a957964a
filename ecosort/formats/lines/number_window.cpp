#include "formats/lines/number_window.h"

#include "base/uint128.h"
#include "formats/lines/number_window_body.h"

namespace ecosort::lines {
namespace {

constexpr std::uint64_t upper_bits = 0x80 * each_byte;

// The first `count` bytes, fewer than 16.
uint128 first_bytes(unsigned count) noexcept { return (uint128{1} << 8 * count) - 1; }

// Bit i: the upper bit of byte i.
std::uint32_t upper_bits_of(std::uint64_t bytes) noexcept {
  return static_cast<std::uint32_t>(((bytes & upper_bits) >> 7U) * 0x0102040810204080U >> 56U);
}

// Bit i: byte i lies between `least` and `most`, below 0x80.
std::uint32_t bytes_between(std::uint64_t bytes, unsigned least, unsigned most) noexcept {
  const std::uint64_t seven_bits = bytes & ~upper_bits;
  const std::uint64_t above = seven_bits + (0x7f - most) * each_byte, not_below = seven_bits + (0x80 - least) * each_byte;
  return upper_bits_of(~above & not_below & ~bytes);
}

// Four bytes 10 * tens + ones of eight digits.
std::uint32_t pairs_of(std::uint64_t digits) noexcept {
  constexpr std::uint64_t even = 0x00ff00ff00ff00ff;
  std::uint64_t pairs = (digits & even) * 10 + (digits >> 8U & even);
  pairs = (pairs | pairs >> 8U) & 0x0000ffff0000ffff;
  return static_cast<std::uint32_t>(pairs | pairs >> 16U);
}

// Every processor can do this.
class PlainDigits {
 public:
  PlainDigits(const char* at, std::size_t size) noexcept {
    const SixteenBytes bytes = load_beginning(at, size);
    bytes_ = make_uint128(bytes.high, bytes.low);
  }

  [[nodiscard]] std::uint32_t digits() const noexcept { return between('0', '9'); }
  [[nodiscard]] std::uint32_t zeros() const noexcept { return between('0', '0'); }
  [[nodiscard]] std::uint32_t minus() const noexcept { return static_cast<unsigned char>(bytes_) == '-' ? 1 : 0; }
  [[nodiscard]] std::uint32_t points() const noexcept { return between('.', '.'); }
  [[nodiscard]] std::uint32_t high() const noexcept {
    return upper_bits_of(low_half(bytes_)) | upper_bits_of(high_half(bytes_)) << 8U;
  }

  [[nodiscard]] std::uint64_t take(DigitPlaces places) const noexcept {
    if (places.begin == most_bytes) return 0;
    uint128 bytes = bytes_ >> 8 * places.begin;
    unsigned count = places.end - places.begin;
    if (places.whole_end < places.end) {
      const uint128 before = first_bytes(places.whole_end - places.begin);
      bytes = (bytes & before) | (bytes >> 8U & ~before);
      --count;
    }
    bytes &= first_bytes(count) & make_uint128(0x0f * each_byte, 0x0f * each_byte);
    return __builtin_bswap64(std::uint64_t{pairs_of(high_half(bytes))} << 32U | pairs_of(low_half(bytes)));
  }

 private:
  [[nodiscard]] std::uint32_t between(unsigned least, unsigned most) const noexcept {
    return bytes_between(low_half(bytes_), least, most) | bytes_between(high_half(bytes_), least, most) << 8U;
  }

  uint128 bytes_ = 0;
};

}  // namespace

NumberReader number_reader_of(CpuLevel level) noexcept {
#if defined(__x86_64__)
  if (level >= CpuLevel::avx512) return read_number_avx512;
  if (level >= CpuLevel::avx2) return read_number_avx2;
#elif defined(__aarch64__)
  if (level == CpuLevel::neon) return read_number_neon;
#endif
  static_cast<void>(level);
  return read_number<PlainDigits>;
}

NumberReader number_reader() { return number_reader_of(cpu_level()); }

}  // namespace ecosort::lines
