#include "formats/lines/number_vectors.h"

namespace {

struct Avx512Numbers {
  static __m128i load(const char* at, std::size_t size) noexcept {
    return _mm_maskz_loadu_epi8(static_cast<__mmask16>(_bzhi_u32(0xffff, static_cast<unsigned>(size < 16 ? size : 16))), at);
  }
  static __m128i compress(__m128i digits, std::uint32_t their_bits, DigitPlaces places) noexcept {
    const std::uint32_t wanted = _bzhi_u32(their_bits & ~std::uint32_t{0} << places.begin, places.end);
    return _mm_maskz_compress_epi8(static_cast<__mmask16>(wanted), digits);
  }
};

}  // namespace

namespace ecosort::lines {

NumberWindow read_number_avx512(const char* text, std::size_t size) noexcept {
  return read_number<VectorDigits<Avx512Numbers>>(text, size);
}

}  // namespace ecosort::lines
