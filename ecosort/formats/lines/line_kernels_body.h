// The bodies of the line kernels, compiled once per instruction set over a type V of its vectors:
//
//   V::matches(at, c)     64 bits: which of the 64 bytes at `at` are c
//   V::copy(to, at, c), V::copy_half(to, at, c)
//                         the same of 64 or 32 bytes, which are copied
//   V::sums(line, words)  both NH sums of the first words (at most 128) of a line
//   V::write_offsets(matches, at, offsets, end)
//                         the places of the bits, of a text where they begin at `at`, 16 at a time; may be absent
//   V::add_four(lines, V::Fours&), V::total_of(fours)
//                         the hashes of four lines of 2 to 128 words added up, where a vector has room for them; may be absent
//
// Everything here has internal linkage, so that no function compiled for a newer processor can stand in for the plain one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/prefetch.h"
#include "formats/lines/line_kernels.h"
#include "hash/multiset_hash_kernel.h"

namespace {

using ecosort::lines::LineHash;

constexpr std::size_t cache_line = 64;

struct LineSums {
  std::uint64_t a = 0, b = 0;
};

// 64 bytes, or fewer at the end of a text, behind which nothing is read: V::matches(at, c, counted) looks at those bytes alone
// whose bits are set; vectors that have it not are given a copy with zeros behind.
template <class V>
class Block {
 public:
  Block(const char* text, std::size_t at, std::size_t size) noexcept : bytes_(text + at) {
    if (size - at < 64) cut(size - at);
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() = default;

  [[nodiscard]] std::uint64_t matches(char c) const noexcept {
    if constexpr (reads_parts)
      return V::matches(bytes_, c, counted_);
    else
      return V::matches(bytes_, c) & counted_;
  }
  [[nodiscard]] std::uint64_t counted() const noexcept { return counted_; }

 private:
  static constexpr bool reads_parts = requires(const char* at) { V::matches(at, '0', std::uint64_t{0}); };

  void cut(std::size_t count) noexcept {
    counted_ = (std::uint64_t{1} << count) - 1;
    if constexpr (!reads_parts) {
      std::memcpy(padded_, bytes_, count);
      std::memset(padded_ + count, 0, sizeof padded_ - count);
      bytes_ = padded_;
    }
  }

  const char* bytes_;
  std::uint64_t counted_ = ~std::uint64_t{0};
  char padded_[64];
};

template <class V>
std::size_t count_in(const char* text, std::size_t size, char c) noexcept {
  std::size_t count = 0, at = 0;
  for (; at + 64 <= size; at += 64) count += static_cast<std::size_t>(__builtin_popcountll(V::matches(text + at, c)));
  if (at == size) return count;
  return count + static_cast<std::size_t>(__builtin_popcountll(Block<V>(text, at, size).matches(c)));
}

// Writes more offsets than there are, some at a time, so that how many there are is no branch.
template <class V>
inline std::uint32_t* add_offsets(std::uint64_t matches, std::size_t at, std::uint32_t* offsets) noexcept {
  std::uint32_t* const end = offsets + __builtin_popcountll(matches);
  if constexpr (requires { V::write_offsets(matches, at, offsets, end); }) {
    V::write_offsets(matches, at, offsets, end);
  } else {
    do {
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        *offsets++ = static_cast<std::uint32_t>(at) + static_cast<std::uint32_t>(matches == 0 ? 0 : __builtin_ctzll(matches));
        matches &= matches - 1;
      }
    } while (offsets < end);
  }
  return end;
}

template <class V>
std::size_t split_lines(const char* text, std::size_t size, char c, std::uint32_t* offsets) noexcept {
  std::uint32_t* next = offsets;
  std::size_t at = 0;
  for (; at + 64 <= size; at += 64) next = add_offsets<V>(V::matches(text + at, c), at, next);
  if (at < size) next = add_offsets<V>(Block<V>(text, at, size).matches(c), at, next);
  return static_cast<std::size_t>(next - offsets);
}

// The place of the first bit of two words, one of which has some. In the arithmetic there is no branch to be mispredicted.
inline std::size_t first_of(std::uint64_t near, std::uint64_t far) noexcept {
  const std::uint64_t is_far = -static_cast<std::uint64_t>(near == 0);
  return (is_far & 64U) + static_cast<std::size_t>(__builtin_ctzll(near | (far & is_far)));
}

// The ends of lines in the 64 bytes from a line's beginning on, and in the two cache lines behind the one that it begins in. No
// other one is touched; and which of the three has the first end is no branch: one that is mispredicted takes as long as a line.
//
//   cache lines  |    first    |    second    |    third    |
//   line         |     [ ......|..............|..e          |
//                      [ `first` . ]
//                              [  `second`    ][  `third`   ]
template <class V>
class FoundEnds {
 public:
  FoundEnds(const char* line, char c) noexcept
      : to_second_(cache_line - reinterpret_cast<std::uintptr_t>(line) % cache_line),
        first_(V::matches(line, c)),
        second_(V::matches(line + to_second_, c)),
        third_(V::matches(line + to_second_ + cache_line, c)) {}

  [[nodiscard]] bool any() const noexcept { return (first_ | second_ | third_) != 0; }
  // Where in the line the first one is, if there is any; else what is still to be looked at begins at end().
  [[nodiscard]] std::size_t place() const noexcept {
    const std::uint64_t not_first = -static_cast<std::uint64_t>(first_ == 0), near = first_ | (second_ & not_first);
    const std::uint64_t not_near = -static_cast<std::uint64_t>(near == 0);
    return (not_first & to_second_) + (not_near & cache_line) +
           static_cast<std::size_t>(__builtin_ctzll(near | (third_ & not_near)));
  }
  [[nodiscard]] std::size_t end() const noexcept { return to_second_ + 2 * cache_line; }

  static constexpr std::ptrdiff_t most = 3 * cache_line;  // bytes that are read

 private:
  std::size_t to_second_;
  std::uint64_t first_, second_, third_;
};

template <class V>
const char* find_end(const char* at, const char* end, char c) noexcept {
  while (end - at >= FoundEnds<V>::most) {
    const FoundEnds<V> ends(at, c);
    if (ends.any()) [[likely]]
      return at + ends.place();
    at += ends.end();
  }
  return at == end ? nullptr : static_cast<const char*>(std::memchr(at, c, static_cast<std::size_t>(end - at)));
}

// Copies a line with its end, of which `at` bytes are copied, in halves of copy_step, and returns its length with the end; 0, and
// it is not copied, if it may not fit in `room`. At first what is in the cache line of the last byte: most lines end there, and
// the next one was not prefetched. A function of its own, so that its variables are not in the way of those of gather_lines().
template <class V>
[[gnu::noinline]] std::size_t copy_rest(char* to, std::size_t room, const char* line, char c, std::size_t at) noexcept {
  if (const std::size_t there = reinterpret_cast<std::uintptr_t>(line + at) % cache_line;
      there <= at && at - there + 64 <= room) {
    const std::uint64_t matches = V::copy(to + at - there, line + at - there, c) >> there;
    if (matches != 0) return at + 1 + static_cast<std::size_t>(__builtin_ctzll(matches));
    at += cache_line - there;
  }
  for (; at + 64 <= room; at += 64) {
    const std::uint64_t matches = V::copy(to + at, line + at, c);
    if (matches != 0) return at + 1 + static_cast<std::size_t>(__builtin_ctzll(matches));
  }
  return 0;
}

template <class V>
inline std::size_t copy_line_to(char* to, std::size_t room, const char* line, char c) noexcept {
  if (room < ecosort::lines::copy_step) [[unlikely]]
    return 0;
  const std::uint64_t near = V::copy(to, line, c), far = V::copy(to + 64, line + 64, c);
  if ((near | far) == 0) [[unlikely]]
    return copy_rest<V>(to, room, line, c, ecosort::lines::copy_step);
  return 1 + first_of(near, far);
}

template <class V>
inline std::size_t copy_short_line_to(char* to, std::size_t room, const char* line, char c) noexcept {
  if (room < ecosort::lines::short_copy_step) [[unlikely]]
    return 0;
  const std::uint32_t matches = V::copy_half(to, line, c);
  if (matches == 0) [[unlikely]]
    return copy_rest<V>(to, room, line, c, ecosort::lines::short_copy_step);
  return 1 + static_cast<std::size_t>(__builtin_ctz(matches));
}

// Of most lines that are no longer, and of no other, all is in the cache line that they begin in and in the next one: more is not
// read, because memory is what gathering waits for.
template <class V>
inline std::size_t copy_middle_line_to(char* to, std::size_t room, const char* line, char c) noexcept {
  if (room < ecosort::lines::copy_step) [[unlikely]]
    return 0;
  const std::size_t second = cache_line - reinterpret_cast<std::uintptr_t>(line) % cache_line;
  const std::uint64_t near = V::copy(to, line, c), far = V::copy(to + second, line + second, c);
  if ((near | far) == 0) [[unlikely]]
    return copy_rest<V>(to, room, line, c, second + cache_line);
  const std::uint64_t is_far = -static_cast<std::uint64_t>(near == 0);
  return 1 + (is_far & second) + static_cast<std::size_t>(__builtin_ctzll(near | (far & is_far)));
}

enum class Length : std::uint8_t { is_short, is_middle, is_long };

template <class V, Length length>
inline std::size_t copy_to(char* to, std::size_t room, const char* line, char c) noexcept {
  if constexpr (length == Length::is_short) return copy_short_line_to<V>(to, room, line, c);
  if constexpr (length == Length::is_middle) return copy_middle_line_to<V>(to, room, line, c);
  return copy_line_to<V>(to, room, line, c);
}

// What copy_to() reads.
template <Length length>
inline void prefetch_line(const char* line) noexcept {
  ecosort::prefetch(line);
  if (length == Length::is_short) ecosort::prefetch(line + ecosort::lines::short_copy_step - 1);
  if (length != Length::is_short) ecosort::prefetch(line + cache_line);
  if (length == Length::is_long) ecosort::prefetch(line + ecosort::lines::copy_step - 1);
}

template <class V, Length length>
std::size_t gather_lines(const ecosort::lines::GatherTask& given, std::uint32_t* sizes) noexcept {
  constexpr std::size_t most = ecosort::lines::gathered_lines, ahead = 24;  // lines
  const ecosort::lines::GatherTask task = given;                            // not in memory that the stores might change
  const auto left = static_cast<std::size_t>(task.end - task.next), count = left < most ? left : most;
  std::size_t filled = 0;
  for (std::size_t i = 0; i < count; ++i) {
    prefetch_line<length>(task.text + task.next[i + ahead < left ? i + ahead : left - 1].index);
    const char* const line = task.text + task.next[i].index;
    const std::size_t size = copy_to<V, length>(task.to + filled, task.room - filled, line, task.terminator);
    if (size == 0) [[unlikely]]
      return i;
    sizes[i] = static_cast<std::uint32_t>(size);
    filled += size;
  }
  return count;
}

constexpr std::uint64_t finish_factor = 0x9fb21c651e98df25U;

inline std::uint64_t finished(std::uint64_t sum) noexcept {
  sum = (sum ^ sum >> 32U) * finish_factor;
  return sum ^ sum >> 29U;
}

inline void add_chunk(LineHash& hash, LineSums sums, std::size_t size, std::size_t chunk) noexcept {
  hash.low += finished(sums.a + size * size_a + chunk * size_b);
  hash.high += finished(sums.b + size * size_b + chunk * size_a);
}

inline void add_word(LineSums& sums, std::uint64_t word, std::uint64_t key_a, std::uint64_t key_b) noexcept {
  sums.a += PlainLanes::product_of_halves(word, key_a);
  sums.b += PlainLanes::product_of_halves(word, key_b);
}

// Whole words, 1 KiB of them with one table of keys, and the last eight bytes once more; below eight bytes one padded word.
template <class V>
inline LineHash hash_line(const char* line, std::size_t size) noexcept {
  LineHash hash;
  LineSums sums;
  if (size < word_bytes) [[unlikely]] {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < size; ++i) word |= std::uint64_t{static_cast<unsigned char>(line[i])} << 8 * i;
    add_word(sums, word, hash_keys.tail_a, hash_keys.tail_b);
    add_chunk(hash, sums, size, 0);
    return hash;
  }
  const std::size_t words = size / word_bytes;
  std::size_t first = 0;
  if (words == 1) {
    add_word(sums, PlainLanes::load(line), hash_keys.a[0], hash_keys.b[0]);
    add_word(sums, PlainLanes::load(line + size - word_bytes), hash_keys.tail_a, hash_keys.tail_b);
    add_chunk(hash, sums, size, 0);
    return hash;
  }
  for (; words - first > chunk_words; first += chunk_words)
    add_chunk(hash, V::sums(line + first * word_bytes, chunk_words), size, first);
  sums = V::sums(line + first * word_bytes, words - first);
  add_word(sums, PlainLanes::load(line + size - word_bytes), hash_keys.tail_a, hash_keys.tail_b);
  add_chunk(hash, sums, size, first);
  return hash;
}

// In registers: whoever adds the hashes of calls stores two words and loads them as one, which has to wait for both stores.
template <class V>
LineHash sum_one_by_one(const ecosort::lines::LinePlace* lines, std::size_t count) noexcept {
  LineHash sum;
  for (std::size_t i = 0; i < count; ++i) {
    const LineHash hash = hash_line<V>(lines[i].begin, lines[i].size);
    sum.low += hash.low;
    sum.high += hash.high;
  }
  return sum;
}

inline bool are_usual(const ecosort::lines::LinePlace* four) noexcept {
  bool are = true;
  for (std::size_t i = 0; i < 4; ++i) are &= four[i].size / word_bytes - 2 <= chunk_words - 2;
  return are;
}

template <class V>
LineHash sum_of_hashes(const ecosort::lines::LinePlace* lines, std::size_t count) noexcept {
  if constexpr (!requires { typename V::Fours; }) {
    return sum_one_by_one<V>(lines, count);
  } else {
    LineHash sum;
    const auto add = [&sum](LineHash hash) {
      sum.low += hash.low;
      sum.high += hash.high;
    };
    typename V::Fours fours{};
    std::size_t i = 0;
    for (; i + 4 <= count; i += 4) {
      if (are_usual(lines + i)) [[likely]]
        V::add_four(lines + i, fours);
      else
        add(sum_one_by_one<V>(lines + i, 4));
    }
    add(sum_one_by_one<V>(lines + i, count - i));
    const LineSums total = V::total_of(fours);
    add({total.a, total.b});
    return sum;
  }
}

template <class V>
constexpr ecosort::lines::LineKernels kernels_over() noexcept {
  return {count_in<V>,
          split_lines<V>,
          find_end<V>,
          gather_lines<V, Length::is_long>,
          gather_lines<V, Length::is_middle>,
          gather_lines<V, Length::is_short>,
          hash_line<V>,
          sum_of_hashes<V>};
}

}  // namespace
