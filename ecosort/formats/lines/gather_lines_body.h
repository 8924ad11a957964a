// Lines copied in their order: bodies over the vectors V of line_kernels_body.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/prefetch.h"
#include "formats/lines/line_ends_body.h"
#include "formats/lines/line_kernels.h"

namespace {

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

// A line of up to 64 bytes lies in the cache line that it begins in and the next one. More is not read before the line turns out
// to be longer, because memory is what gathering waits for.
template <class V>
inline std::size_t copy_middle_line_to(char* to, std::size_t room, const char* line, char c) noexcept {
  if (room < ecosort::lines::copy_step) [[unlikely]]
    return 0;
  const std::size_t second = to_next_cache_line(line);
  const std::uint64_t near = V::copy(to, line, c), far = V::copy(to + second, line + second, c);
  if ((near | far) == 0) [[unlikely]]
    return copy_rest<V>(to, room, line, c, second + cache_line);
  return 1 + first_of(near, far, second);
}

enum class Length : std::uint8_t { is_short, is_middle, is_long };

template <class V, Length length>
inline std::size_t copy_to(char* to, std::size_t room, const char* line, char c) noexcept {
  if constexpr (length == Length::is_short) return copy_short_line_to<V>(to, room, line, c);
  if constexpr (length == Length::is_middle) return copy_middle_line_to<V>(to, room, line, c);
  return copy_line_to<V>(to, room, line, c);
}

// Fetches ahead what copy_to() reads.
template <Length length>
inline void prefetch_line(const char* line) noexcept {
  ecosort::prefetch(line);
  if (length == Length::is_short) ecosort::prefetch(line + ecosort::lines::short_copy_step - 1);
  if (length != Length::is_short) ecosort::prefetch(line + cache_line);
  if (length == Length::is_long) ecosort::prefetch(line + ecosort::lines::copy_step - 1);
}

// `copy(to, room, line, entry)` copies the line of an entry as copy_to(), and perhaps more.
template <Length length, class Copy>
[[gnu::always_inline]] inline std::size_t gather_each(const ecosort::lines::GatherTask& task, std::uint32_t* sizes,
                                                      const Copy& copy) noexcept {
  constexpr std::size_t most = ecosort::lines::gathered_lines, ahead = 24;  // lines
  const auto left = static_cast<std::size_t>(task.end - task.next), count = left < most ? left : most;
  std::size_t filled = 0;
  for (std::size_t i = 0; i < count; ++i) {
    prefetch_line<length>(task.text + task.next[i + ahead < left ? i + ahead : left - 1].index);
    const std::size_t size = copy(task.to + filled, task.room - filled, task.text + task.next[i].index, task.next[i]);
    if (size == 0) [[unlikely]]
      return i;
    sizes[i] = static_cast<std::uint32_t>(size);
    filled += size;
  }
  return count;
}

template <class V, Length length>
std::size_t gather_lines(const ecosort::lines::GatherTask& given, std::uint32_t* sizes) noexcept {
  const ecosort::lines::GatherTask task = given;  // not in memory that the stores might change
  return gather_each<length>(task, sizes,
                             [&task](char* to, std::size_t room, const char* line, const ecosort::sorting::Entry& /*entry*/) {
                               return copy_to<V, length>(to, room, line, task.terminator);
                             });
}

template <class V, Length length>
std::size_t gather_with_heads(const ecosort::lines::GatherTask& given, std::uint32_t* sizes) noexcept {
  using ecosort::sorting::Entry;
  const ecosort::lines::GatherTask task = given;
  return gather_each<length>(
      task, sizes, [&task](char* to, std::size_t room, const char* line, const Entry& entry) -> std::size_t {
        if (room < sizeof(Entry)) return 0;
        const std::size_t size = copy_to<V, length>(to + sizeof(Entry), room - sizeof(Entry), line, task.terminator);
        if (size == 0) return 0;
        const Entry head{entry.prefix, entry.extension, static_cast<std::uint32_t>(size)};
        std::memcpy(to, &head, sizeof head);
        return sizeof head + size;
      });
}

}  // namespace
