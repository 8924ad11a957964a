// The body of the record hash, compiled once per instruction set over a vector type V of V::width 64-bit lanes.
//
// V::width records are hashed at a time: each record's words are multiplied and summed along its own vector, then one transposing
// sum puts one record into each lane, and the mixer runs on all of them at once. Records that would leave half of their vector
// empty are in the lanes from the beginning. Everything here has internal linkage, so that no function compiled for a newer
// processor can replace the plain one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace {

constexpr std::size_t word_bytes = sizeof(std::uint64_t);
constexpr std::size_t chunk_words = 128;  // 1 KiB: the reach of one key table
constexpr std::uint64_t low_half = 0xffffffff;

// Two tables of chunk_words keys and one key each for the overlapping last word, from the splitmix64 sequence.
struct HashKeys {
  alignas(64) std::uint64_t a[chunk_words] = {};
  alignas(64) std::uint64_t b[chunk_words] = {};
  std::uint64_t tail_a = 0;
  std::uint64_t tail_b = 0;
};

constexpr HashKeys make_hash_keys() {
  std::uint64_t counter = 0;
  const auto next = [&counter] {
    std::uint64_t z = counter += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30U) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27U) * 0x94d049bb133111eb;
    return z ^ z >> 31U;
  };
  HashKeys keys;
  for (std::uint64_t& key : keys.a) key = next();
  for (std::uint64_t& key : keys.b) key = next();
  keys.tail_a = next();
  keys.tail_b = next();
  return keys;
}
constexpr HashKeys hash_keys = make_hash_keys();

// Odd 32-bit multipliers of the mixer, and the weights of the record size in the initial state.
constexpr std::uint64_t mix_low = 0x9e3779b1;
constexpr std::uint64_t mix_high = 0x85ebca77;
constexpr std::uint64_t size_a = 0xc2b2ae3d27d4eb4f;
constexpr std::uint64_t size_b = 0x165667b19e3779f9;

// One lane: the records that are left over, and every processor without a variant of its own.
struct PlainLanes {
  using T = std::uint64_t;
  static constexpr std::size_t width = 1;

  static T load(const void* from) noexcept {
    T word = 0;
    std::memcpy(&word, from, sizeof word);
    return word;
  }
  static T load_part(const void* from, std::size_t /*words: 0 never comes here*/) noexcept { return load(from); }
  static T column(const std::byte* from, std::size_t /*stride*/) noexcept { return load(from); }
  static T set(std::uint64_t value) noexcept { return value; }
  static T key(std::uint64_t value) noexcept { return value; }
  static T add(T x, T y) noexcept { return x + y; }
  static T exclusive_or(T x, T y) noexcept { return x ^ y; }
  static T product_of_halves(T m, T key) noexcept {
    const auto low = static_cast<std::uint32_t>(m) + static_cast<std::uint32_t>(key);
    const auto high = static_cast<std::uint32_t>(m >> 32U) + static_cast<std::uint32_t>(key >> 32U);
    return std::uint64_t{low} * high;
  }
  static T add_product(T sum, T m, T key) noexcept { return sum + product_of_halves(m, key); }
  static T spread(T x) noexcept {  // the mixer's round function
    const std::uint64_t high = (x >> 32U) * mix_high;
    return (x & low_half) * mix_low + (high << 32U | high >> 32U);
  }
  static T transposed_sum(const T* rows) noexcept { return rows[0]; }
  static std::uint64_t total(T x) noexcept { return x; }
};

// The record size of the Sort Benchmark as a constant, so that its loops unroll.
struct BenchmarkRecordSize {
  constexpr operator std::size_t() const noexcept { return 100; }  // NOLINT(google-explicit-constructor): serves as a size_t
};

struct SmallRecordSize {
  constexpr operator std::size_t() const noexcept { return 16; }  // NOLINT(google-explicit-constructor): serves as a size_t
};

template <class V>
struct LanePair {
  typename V::T a;
  typename V::T b;
};

constexpr unsigned mixer_rounds = 5;

// Rounds [first, end) of the mixer.
template <class V>
inline void mix(LanePair<V>& state, unsigned first, unsigned end) noexcept {
#pragma GCC unroll 5
  for (unsigned round = first; round < end; ++round) {
    if (round % 2 == 0)
      state.b = V::exclusive_or(state.b, V::spread(state.a));
    else
      state.a = V::exclusive_or(state.a, V::spread(state.b));
  }
}

// Part i of `parts` of the mixer.
template <class V>
inline void mix_part(LanePair<V>& state, unsigned i, unsigned parts) noexcept {
  mix(state, mixer_rounds * i / parts, mixer_rounds * (i + 1) / parts);
}

// The two NH sums of one chunk of one record, spread over the lanes. `words` <= chunk_words. V::chunk_sums() may compute them.
template <class V>
inline auto chunk_sums(const std::byte* chunk, std::size_t words) noexcept {
  if constexpr (requires { V::chunk_sums(chunk, words); }) {
    return V::chunk_sums(chunk, words);
  } else {
    LanePair<V> sums{V::set(0), V::set(0)};
    const std::size_t whole = words - words % V::width;
#pragma GCC unroll 8
    for (std::size_t i = 0; i < whole; i += V::width) {
      const auto m = V::load(chunk + i * word_bytes);
      sums.a = V::add_product(sums.a, m, V::load(&hash_keys.a[i]));
      sums.b = V::add_product(sums.b, m, V::load(&hash_keys.b[i]));
    }
    if (whole == words) return sums;
    // Lanes beyond the record hold message 0 and key 0, whose product is 0.
    const auto m = V::load_part(chunk + whole * word_bytes, words - whole);
    sums.a = V::add_product(sums.a, m, V::load_part(&hash_keys.a[whole], words - whole));
    sums.b = V::add_product(sums.b, m, V::load_part(&hash_keys.b[whole], words - whole));
    return sums;
  }
}

// The NH sums of the first `words` <= chunk_words words of V::width records, one record per lane. On the way it mixes `late`, the
// state of other records: each round waits for the one before, and the processor has the sums to compute meanwhile. Records of
// two words have V::columns_of_two() where a processor loads both columns at once.
template <class V>
inline LanePair<V> sums_of_chunks(const std::byte* chunks, std::size_t words, std::size_t stride, LanePair<V>& late) noexcept {
  if (2 * words <= V::width) {
    LanePair<V> sums{V::set(0), V::set(0)};
    if constexpr (requires { V::columns_of_two(chunks); }) {
      if (words == 2 && stride == words * word_bytes) {
        const auto [first, second] = V::columns_of_two(chunks);
        sums.a = V::add_product(V::add_product(sums.a, first, V::key(hash_keys.a[0])), second, V::key(hash_keys.a[1]));
        sums.b = V::add_product(V::add_product(sums.b, first, V::key(hash_keys.b[0])), second, V::key(hash_keys.b[1]));
        mix(late, 0, mixer_rounds);
        return sums;
      }
    }
    for (std::size_t i = 0; i < words; ++i) {
      const auto m = V::column(chunks + i * word_bytes, stride);
      sums.a = V::add_product(sums.a, m, V::key(hash_keys.a[i]));
      sums.b = V::add_product(sums.b, m, V::key(hash_keys.b[i]));
    }
    mix(late, 0, mixer_rounds);
    return sums;
  }
  using Row = decltype(chunk_sums<V>(chunks, words).a);
  Row a[V::width];
  Row b[V::width];
#pragma GCC unroll 8
  for (unsigned record = 0; record < V::width; ++record) {
    const auto sums = chunk_sums<V>(chunks + record * stride, words);
    a[record] = sums.a;
    b[record] = sums.b;
    mix_part(late, record, unsigned{V::width});
  }
  return {V::transposed_sum(a), V::transposed_sum(b)};
}

// Hashes V::width records of `size` >= 8 bytes, one per lane, but for the mixer. It mixes `late` fully.
template <class V, class Size>
inline LanePair<V> unmixed_group(const std::byte* records, Size size, LanePair<V>& late) noexcept {
  const std::size_t words = size / word_bytes;
  LanePair<V> state{V::set(size * size_a), V::set(size * size_b)};
  LanePair<V>* waiting = &late;
  for (std::size_t first = 0; first < words; first += chunk_words) {
    const std::size_t count = words - first < chunk_words ? words - first : chunk_words;
    const LanePair<V> sums = sums_of_chunks<V>(records + first * word_bytes, count, size, *waiting);
    state.a = V::add(state.a, sums.a);
    state.b = V::add(state.b, sums.b);
    waiting = &state;
  }
  if (size % word_bytes != 0) {
    const auto m = V::column(records + size - word_bytes, size);
    state.a = V::add_product(state.a, m, V::key(hash_keys.tail_a));
    state.b = V::add_product(state.b, m, V::key(hash_keys.tail_b));
  }
  return state;
}

// A record below 8 bytes: one zero-padded word.
inline LanePair<PlainLanes> hash_short_record(const std::byte* record, std::size_t size) noexcept {
  std::byte padded[word_bytes] = {};
  std::memcpy(padded, record, size);
  const std::uint64_t m = PlainLanes::load(padded);
  LanePair<PlainLanes> state{size * size_a + PlainLanes::product_of_halves(m, hash_keys.a[0]),
                             size * size_b + PlainLanes::product_of_halves(m, hash_keys.b[0])};
  mix(state, 0, mixer_rounds);
  return state;
}

struct HashSums {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

template <class V, class Size>
inline HashSums hash_records_of_size(const std::byte* records, std::size_t count, Size size) noexcept {
  LanePair<V> sums{V::set(0), V::set(0)}, late = sums;  // the mixer leaves zeros what they are
  const auto add_late = [&] {
    sums.a = V::add(sums.a, late.a);
    sums.b = V::add(sums.b, late.b);
  };
  std::size_t done = 0;
  for (; done + V::width <= count; done += V::width) {
    const LanePair<V> next = unmixed_group<V>(records + done * size, size, late);
    add_late();
    late = next;
  }
  mix(late, 0, mixer_rounds);
  add_late();
  HashSums total{V::total(sums.a), V::total(sums.b)};
  if constexpr (V::width > 1) {
    const HashSums rest = hash_records_of_size<PlainLanes>(records + done * size, count - done, size);
    total.low += rest.low;
    total.high += rest.high;
  }
  return total;
}

template <class V>
inline HashSums hash_records_with(const std::byte* records, std::size_t count, std::size_t size) noexcept {
  if (size == 100) return hash_records_of_size<V>(records, count, BenchmarkRecordSize{});
  if (size == 16) return hash_records_of_size<V>(records, count, SmallRecordSize{});
  if (size >= word_bytes) return hash_records_of_size<V>(records, count, size);
  HashSums total;
  for (std::size_t i = 0; i < count; ++i) {
    const LanePair<PlainLanes> hash = hash_short_record(records + i * size, size);
    total.low += hash.a;
    total.high += hash.b;
  }
  return total;
}

}  // namespace
