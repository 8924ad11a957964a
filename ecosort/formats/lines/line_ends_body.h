// Finds where lines end in a text: bodies over the vectors V of line_kernels_body.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace {

constexpr std::size_t cache_line = 64;

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

// The place of the first bit of two words, one of which has some, where `far` begins at place `far_at`. In the arithmetic there
// is no branch to be mispredicted.
inline std::size_t first_of(std::uint64_t near, std::uint64_t far, std::size_t far_at = 64) noexcept {
  const std::uint64_t is_far = -static_cast<std::uint64_t>(near == 0);
  return (is_far & far_at) + static_cast<std::size_t>(__builtin_ctzll(near | (far & is_far)));
}

inline std::size_t to_next_cache_line(const char* at) noexcept {
  return cache_line - reinterpret_cast<std::uintptr_t>(at) % cache_line;
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
      : to_second_(to_next_cache_line(line)),
        first_(V::matches(line, c)),
        second_(V::matches(line + to_second_, c)),
        third_(V::matches(line + to_second_ + cache_line, c)) {}

  [[nodiscard]] bool any() const noexcept { return (first_ | second_ | third_) != 0; }
  // Returns where in the line the first one is, if there is any; else what is still to be looked at begins at end().
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

}  // namespace
