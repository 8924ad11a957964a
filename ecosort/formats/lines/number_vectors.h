// Does what number_window_body.h needs with the bytes of a number, for AVX2 and what has more: compiled by each for itself.
#pragma once

#include <immintrin.h>

#include "base/opaque.h"
#include "formats/lines/number_window_body.h"

namespace {

// Constants as they are loaded: from memory, as the compiler would make each of them of an integer, which takes two instructions.
struct NumberConstants {
  alignas(16) char minus[16], point[16], zero[16], nine[16], pair[16];
};
constexpr NumberConstants make_number_constants() {
  NumberConstants constants{};
  for (int i = 0; i < 16; ++i) {
    constants.minus[i] = '-';
    constants.point[i] = '.';
    constants.zero[i] = '0';
    constants.nine[i] = 9;
    constants.pair[i] = i % 2 == 0 ? 10 : 1;
  }
  return constants;
}
constexpr NumberConstants number_constants = make_number_constants();

// L loads the bytes, and puts the digits that are taken behind each other.
template <class L>
class VectorDigits {
 public:
  VectorDigits(const char* at, std::size_t size) noexcept
      : bytes_(L::load(at, size)), digits_(_mm_sub_epi8(bytes_, constant(constants_->zero))) {}

  [[nodiscard]] std::uint32_t digits() const noexcept {
    return mask_of(_mm_cmpeq_epi8(_mm_min_epu8(digits_, constant(constants_->nine)), digits_));
  }
  [[nodiscard]] std::uint32_t zeros() const noexcept { return mask_of(_mm_cmpeq_epi8(digits_, _mm_setzero_si128())); }
  [[nodiscard]] std::uint32_t minus() const noexcept { return matches(constants_->minus) & 1U; }
  [[nodiscard]] std::uint32_t points() const noexcept { return matches(constants_->point); }
  [[nodiscard]] std::uint32_t high() const noexcept { return mask_of(bytes_); }

  [[nodiscard]] std::uint64_t take(DigitPlaces places) const noexcept {
    const __m128i pairs = _mm_maddubs_epi16(L::compress(digits_, digits(), places), constant(constants_->pair));
    return __builtin_bswap64(static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm_packus_epi16(pairs, pairs))));
  }

 private:
  static __m128i constant(const char* bytes) noexcept { return _mm_load_si128(reinterpret_cast<const __m128i*>(bytes)); }
  static std::uint32_t mask_of(__m128i bytes) noexcept { return static_cast<std::uint32_t>(_mm_movemask_epi8(bytes)); }
  [[nodiscard]] std::uint32_t matches(const char* bytes) const noexcept {
    return mask_of(_mm_cmpeq_epi8(bytes_, constant(bytes)));
  }

  const NumberConstants* constants_ = ecosort::opaque(&number_constants);
  __m128i bytes_, digits_;
};

}  // namespace
