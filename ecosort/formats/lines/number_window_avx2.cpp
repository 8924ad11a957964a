#include "formats/lines/number_vectors.h"

namespace {

struct Avx2Numbers {
  static __m128i load(const char* at, std::size_t size) noexcept {
    const SixteenBytes bytes = load_beginning(at, size);
    return _mm_set_epi64x(static_cast<long long>(bytes.high), static_cast<long long>(bytes.low));
  }
  static __m128i splat(unsigned value) noexcept { return _mm_set1_epi8(static_cast<char>(value)); }

  static __m128i compress(__m128i digits, std::uint32_t /*their bits*/, DigitPlaces places) noexcept {
    const __m128i to = _mm_set_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m128i before_point = _mm_add_epi8(to, splat(places.begin));
    const __m128i is_before = _mm_cmpgt_epi8(splat(places.whole_end), before_point);
    const __m128i from = _mm_add_epi8(before_point, _mm_andnot_si128(is_before, _mm_set1_epi8(1)));
    return _mm_and_si128(_mm_shuffle_epi8(digits, from), _mm_cmpgt_epi8(splat(places.end), from));
  }
};

}  // namespace

namespace ecosort::lines {

NumberWindow read_number_avx2(const char* text, std::size_t size) noexcept {
  return read_number<VectorDigits<Avx2Numbers>>(text, size);
}

}  // namespace ecosort::lines
