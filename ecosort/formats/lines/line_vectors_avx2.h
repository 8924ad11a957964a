// The vectors of the line kernels (line_kernels_body.h) for AVX2.
#pragma once

#include <immintrin.h>

#include "formats/lines/line_kernels_body.h"

namespace {

constexpr std::size_t branchless_words = 16;  // most lines have no more

// Sums for a line of w words: minus what words [w, branchless_words) add to the two sums where they are zeros, which their keys
// do.
struct MissingWords {
  constexpr MissingWords() {
    for (std::size_t words = branchless_words; words > 0; --words) {
      sums[words - 1][0] = sums[words][0] - (hash_keys.a[words - 1] & low_half) * (hash_keys.a[words - 1] >> 32U);
      sums[words - 1][1] = sums[words][1] - (hash_keys.b[words - 1] & low_half) * (hash_keys.b[words - 1] >> 32U);
    }
  }
  alignas(16) std::uint64_t sums[branchless_words + 1][2] = {};
};
constexpr MissingWords missing_words;

// The same sums for a line of so many bytes, with what the size itself adds to a hash.
struct SizeSums {
  constexpr SizeSums() {
    for (std::size_t size = 0; size < std::size(sums); ++size) {
      sums[size][0] = missing_words.sums[size / word_bytes][0] + size * size_a;
      sums[size][1] = missing_words.sums[size / word_bytes][1] + size * size_b;
    }
  }
  alignas(16) std::uint64_t sums[(branchless_words + 1) * word_bytes][2] = {};
};
constexpr SizeSums size_sums;

struct Avx2Vectors {
  static __m256i load(const void* from) noexcept { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }
  static std::uint32_t matches(__m256i bytes, char c) noexcept {
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(c))));
  }
  static std::uint64_t matches(const char* at, char c) noexcept {
    return matches(load(at), c) | std::uint64_t{matches(load(at + 32), c)} << 32U;
  }
  static std::uint32_t copy_half(char* to, const char* at, char c) noexcept {
    const __m256i bytes = load(at);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), bytes);
    return matches(bytes, c);
  }
  static std::uint64_t copy(char* to, const char* at, char c) noexcept {
    return copy_half(to, at, c) | std::uint64_t{copy_half(to + 32, at + 32, c)} << 32U;
  }
  static __m256i product(__m256i words, __m256i keys) noexcept {
    const __m256i sum = _mm256_add_epi32(words, keys);
    return _mm256_mul_epu32(sum, _mm256_srli_epi64(sum, 32));
  }
  static LineSums sums(const char* line, std::size_t words) noexcept {
    return words <= branchless_words ? sums_without_branch(line, words) : sums_of_any(line, words);
  }

  // The hashes of four lines at a time are finished together.
  using Fours = __m256i;
  static void add_four(const ecosort::lines::LinePlace* lines, Fours& total) noexcept {
    total = _mm256_add_epi64(total, _mm256_add_epi64(finished(two_lines(lines)), finished(two_lines(lines + 2))));
  }
  static LineSums total_of(const Fours& total) noexcept {
    return to_sums(_mm_add_epi64(_mm256_castsi256_si128(total), _mm256_extracti128_si256(total, 1)));
  }

 private:
  struct Sums {
    __m256i a = _mm256_setzero_si256(), b = _mm256_setzero_si256();
  };

  // Marks which of four words, of which the first has number `first`, are among `words`.
  static __m256i are_among(std::size_t words, std::size_t first) noexcept {
    const auto at = static_cast<long long>(first);
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(static_cast<long long>(words)), _mm256_set_epi64x(at + 3, at + 2, at + 1, at));
  }
  static __m256i load_part(const void* from, __m256i wanted) noexcept {
    return _mm256_maskload_epi64(static_cast<const long long*>(from), wanted);
  }
  static void add(Sums& sums, __m256i words, __m256i keys_a, __m256i keys_b) noexcept {
    sums.a = _mm256_add_epi64(sums.a, product(words, keys_a));
    sums.b = _mm256_add_epi64(sums.b, product(words, keys_b));
  }
  // In its lower half sum a, in its upper half sum b.
  static __m128i folded(const Sums& sums) noexcept {
    const __m256i pairs = _mm256_add_epi64(_mm256_unpacklo_epi64(sums.a, sums.b), _mm256_unpackhi_epi64(sums.a, sums.b));
    return _mm_add_epi64(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256(pairs, 1));
  }
  static LineSums to_sums(__m128i both) noexcept {
    return {static_cast<std::uint64_t>(_mm_cvtsi128_si64(both)), static_cast<std::uint64_t>(_mm_extract_epi64(both, 1))};
  }

  // Without a branch, because one that is mispredicted takes as long as the rest: zeros replace words that are missing.
  [[gnu::always_inline]] static __m128i sums_with_zeros(const char* line, std::size_t words) noexcept {
    Sums sums;
#pragma GCC unroll 4
    for (std::size_t i = 0; i < branchless_words; i += 4)
      add(sums, load_part(line + i * word_bytes, are_among(words, i)), load(hash_keys.a + i), load(hash_keys.b + i));
    return folded(sums);
  }
  static LineSums sums_without_branch(const char* line, std::size_t words) noexcept {
    return to_sums(_mm_add_epi64(sums_with_zeros(line, words), load_pair(missing_words.sums[words])));
  }

  static __m128i load_pair(const std::uint64_t* from) noexcept { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)); }
  // The sums of a line, with those of its last eight bytes and of its size.
  [[gnu::always_inline]] static __m128i all_sums(const ecosort::lines::LinePlace& line) noexcept {
    if (line.size >= std::size(size_sums.sums)) [[unlikely]]
      return all_sums_of_long(line);
    const __m128i last = _mm_set1_epi64x(static_cast<long long>(PlainLanes::load(line.begin + line.size - word_bytes)));
    const __m128i tail = _mm_add_epi32(last, load_pair(&hash_keys.tail_a));
    const __m128i rest = _mm_add_epi64(_mm_mul_epu32(tail, _mm_srli_epi64(tail, 32)), load_pair(size_sums.sums[line.size]));
    return _mm_add_epi64(sums_with_zeros(line.begin, line.size / word_bytes), rest);
  }
  [[gnu::noinline]] static __m128i all_sums_of_long(const ecosort::lines::LinePlace& line) noexcept {
    LineSums of_line = sums_of_any(line.begin, line.size / word_bytes);
    add_word(of_line, PlainLanes::load(line.begin + line.size - word_bytes), hash_keys.tail_a, hash_keys.tail_b);
    const std::uint64_t sums[] = {of_line.a + line.size * size_a, of_line.b + line.size * size_b};
    return load_pair(sums);
  }
  [[gnu::always_inline]] static __m256i two_lines(const ecosort::lines::LinePlace* lines) noexcept {
    return _mm256_inserti128_si256(_mm256_castsi128_si256(all_sums(lines[0])), all_sums(lines[1]), 1);
  }
  // Does as finished() of hash_lines_body.h; the product is put together of those of 32-bit halves.
  static __m256i finished(__m256i sums) noexcept {
    const __m256i low_factor = _mm256_set1_epi64x(static_cast<long long>(finish_factor)),
                  high_factor = _mm256_srli_epi64(low_factor, 32);
    const __m256i upper = _mm256_srli_epi64(sums, 32), mixed = _mm256_xor_si256(sums, upper);
    const __m256i across = _mm256_add_epi64(_mm256_mul_epu32(upper, low_factor), _mm256_mul_epu32(mixed, high_factor));
    const __m256i product = _mm256_add_epi64(_mm256_mul_epu32(mixed, low_factor), _mm256_slli_epi64(across, 32));
    return _mm256_xor_si256(product, _mm256_srli_epi64(product, 29));
  }
  static LineSums sums_of_any(const char* line, std::size_t words) noexcept {
    Sums sums;
    std::size_t i = 0;
    for (; i + 4 <= words; i += 4) add(sums, load(line + i * word_bytes), load(hash_keys.a + i), load(hash_keys.b + i));
    // Up to three words more; what lies behind them, and its keys, count as zero.
    const __m256i wanted = are_among(words, i);
    add(sums, load_part(line + i * word_bytes, wanted), load_part(hash_keys.a + i, wanted), load_part(hash_keys.b + i, wanted));
    return to_sums(folded(sums));
  }
};

}  // namespace
