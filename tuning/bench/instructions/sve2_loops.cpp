// Runs the bodies of the record hash and of the search for line ends over vectors of SVE2, as the other kernels run over NEON:
// sve2_loops KERNEL sve2 PASSES. Every processor that has SVE2 and can be bought has vectors of 128 bits, for which this is
// compiled. One pass has 1000 items; what it returns is held against the bodies without vectors first.
#include <arm_sve.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "formats/lines/line_ends_body.h"
#include "hash/multiset_hash_kernel.h"

namespace {

constexpr std::size_t items = 1000;
using Words = svuint64_t __attribute__((arm_sve_vector_bits(128)));
using Mask = svbool_t __attribute__((arm_sve_vector_bits(128)));

// Two lanes; the products of halves take the even elements of both vectors, so that the upper halves are moved down first.
struct Sve2Lanes {
  using T = Words;
  static constexpr std::size_t width = 2;

  static T load(const void* from) noexcept { return svld1_u64(svptrue_b64(), static_cast<const std::uint64_t*>(from)); }
  static T load_part(const void* from, std::size_t /*words: always 1*/) noexcept {
    return svld1_u64(svptrue_pat_b64(SV_VL1), static_cast<const std::uint64_t*>(from));
  }
  static T column(const std::byte* from, std::size_t stride) noexcept {
    return svzip1_u64(load_part(from, 1), load_part(from + stride, 1));
  }
  static T set(std::uint64_t value) noexcept { return svdup_n_u64(value); }
  static T key(std::uint64_t value) noexcept { return set(value); }
  static T add(T x, T y) noexcept { return svadd_u64_x(svptrue_b64(), x, y); }
  static T exclusive_or(T x, T y) noexcept { return sveor_u64_x(svptrue_b64(), x, y); }
  static T add_product(T sum, T m, T key) noexcept {
    const svuint32_t halves = svadd_u32_x(svptrue_b32(), svreinterpret_u32_u64(m), svreinterpret_u32_u64(key));
    const svuint64_t upper = svlsr_n_u64_x(svptrue_b64(), svreinterpret_u64_u32(halves), 32);
    return svmlalb_u64(sum, halves, svreinterpret_u32_u64(upper));
  }
  static T spread(T x) noexcept {
    const svuint32_t halves = svreinterpret_u32_u64(x);
    const svuint64_t high = svmullt_n_u64(halves, static_cast<std::uint32_t>(mix_high));
    return svmlalb_n_u64(svrevw_u64_x(svptrue_b64(), high), halves, static_cast<std::uint32_t>(mix_low));
  }
  static T transposed_sum(const T* rows) noexcept { return svaddp_u64_x(svptrue_b64(), rows[0], rows[1]); }
  static std::uint64_t total(T x) noexcept { return svaddv_u64(svptrue_b64(), x); }
};

// Masks are predicates; their bits come into a word by way of memory only.
struct Sve2Vectors {
  static std::uint64_t matches(const char* at, char c) noexcept {
    Mask masks[4];
#pragma GCC unroll 4
    for (std::size_t i = 0; i < 4; ++i) {
      const svuint8_t bytes = svld1_u8(svptrue_b8(), reinterpret_cast<const std::uint8_t*>(at) + 16 * i);
      masks[i] = svcmpeq_n_u8(svptrue_b8(), bytes, static_cast<std::uint8_t>(c));
    }
    std::uint64_t word = 0;
    static_assert(sizeof masks == sizeof word);
    std::memcpy(&word, masks, sizeof word);
    return word;
  }
};

struct PlainVectors {
  static std::uint64_t matches(const char* at, char c) noexcept {
    std::uint64_t word = 0;
    for (unsigned i = 0; i < 64; ++i) word |= std::uint64_t{at[i] == c} << i;
    return word;
  }
};

std::uint64_t state = 1;
std::uint64_t random_below(std::uint64_t bound) {
  state = state * 6364136223846793005 + 1442695040888963407;
  return (state >> 33U) % bound;
}

struct Data {
  Data() {
    for (std::byte& byte : records) byte = static_cast<std::byte>(random_below(256));
    for (std::size_t i = 0; i < items; ++i) {
      const std::size_t size = 60 + random_below(81);
      for (std::size_t k = 0; k < size; ++k) lines += static_cast<char>(' ' + 1 + random_below(90));
      lines += '\n';
    }
  }
  std::vector<std::byte> records = std::vector<std::byte>(items * 100);
  std::string lines;
};

template <class Lanes>
[[gnu::noinline]] std::uint64_t hash_records(const Data& data, std::size_t size) {
  const HashSums sums = hash_records_with<Lanes>(data.records.data(), items, size);
  return sums.low ^ sums.high;
}

template <class Vectors>
[[gnu::noinline]] std::uint64_t split_all(const Data& data) {
  static std::uint32_t offsets[4096 + 64];
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < data.lines.size(); at += 4096) {
    const std::size_t found =
        split_lines<Vectors>(data.lines.data() + at, std::min<std::size_t>(4096, data.lines.size() - at), '\n', offsets);
    sum += found == 0 ? 0 : found + offsets[found - 1];
  }
  return sum;
}

template <class Lanes, class Vectors>
[[gnu::noinline]] std::uint64_t pass(const Data& data, std::string_view name) {
  if (name == "hash_100") return hash_records<Lanes>(data, 100);
  if (name == "hash_16") return hash_records<Lanes>(data, 16);
  if (name == "count_lines") return count_in<Vectors>(data.lines.data(), data.lines.size(), '\n');
  if (name == "split_lines") return split_all<Vectors>(data);
  std::exit(2);
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) return 2;
  const Data data;
  const std::uint64_t expected = pass<PlainLanes, PlainVectors>(data, words[1]);
  for (int i = 0; i < std::atoi(words[3]); ++i)
    if (pass<Sve2Lanes, Sve2Vectors>(data, words[1]) != expected) return 3;
  return 0;
}
