#include <immintrin.h>

#include "formats/lines/number_window_body.h"

namespace {

class VectorDigits {
 public:
  VectorDigits(const char* at, std::size_t size) noexcept : digits_(_mm_sub_epi8(load(at, size), _mm_set1_epi8('0'))) {}

  [[nodiscard]] std::uint32_t non_digits() const noexcept {
    const __m128i is_digit = _mm_cmpeq_epi8(_mm_min_epu8(digits_, _mm_set1_epi8(9)), digits_);
    return static_cast<std::uint32_t>(_mm_movemask_epi8(is_digit)) ^ 0x1ffffU;
  }

  [[nodiscard]] DigitPairs take(std::size_t count, std::size_t point) const noexcept {
    const __m128i places = _mm_set_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m128i before = _mm_cmpgt_epi8(_mm_set1_epi8(static_cast<char>(point)), places);
    const __m128i from = _mm_sub_epi8(_mm_add_epi8(places, _mm_set1_epi8(1)), _mm_and_si128(before, _mm_set1_epi8(1)));
    const __m128i wanted = _mm_cmpgt_epi8(_mm_set1_epi8(static_cast<char>(count)), places);
    const __m128i digits = _mm_and_si128(_mm_shuffle_epi8(digits_, from), wanted);
    const auto zeros = static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(digits, _mm_setzero_si128())));
    const __m128i pairs = _mm_maddubs_epi16(digits, _mm_set1_epi16(1 << 8 | 10));
    const auto bytes = static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm_packus_epi16(pairs, pairs)));
    const std::uint32_t others = zeros ^ 0xffffU;
    return {__builtin_bswap64(bytes), others == 0 ? 0 : 32 - static_cast<std::size_t>(__builtin_clz(others))};
  }

 private:
  static __m128i load(const char* at, std::size_t size) noexcept {
    const SixteenBytes bytes = load_beginning(at, size);
    return _mm_set_epi64x(static_cast<long long>(bytes.high), static_cast<long long>(bytes.low));
  }

  __m128i digits_;
};

}  // namespace

namespace ecosort::lines {

bool read_number_avx2(const char* text, std::size_t size, NumberWindow& number) noexcept {
  return read_number<VectorDigits>(text, size, number);
}

}  // namespace ecosort::lines
