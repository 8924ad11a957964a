#include "codec/truncate.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace ecosort::codec {
namespace {

constexpr std::size_t step = 16;  // bytes that are looked at or copied at once
constexpr unsigned char more_follow = 255;
constexpr std::size_t most_head_bytes = 2 + 2 * sizeof(std::uint32_t);

#if defined(__SSE2__)
__m128i load(const char* at) noexcept { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at)); }

// The first of 16 bytes for which the mask has a bit; 16: none.
std::size_t first_of(__m128i bytes) noexcept {
  return static_cast<std::size_t>(__builtin_ctz(static_cast<unsigned>(_mm_movemask_epi8(bytes)) | 1U << step));
}

std::size_t agreeing(const char* a, const char* b) noexcept {
  const __m128i differ = _mm_xor_si128(_mm_cmpeq_epi8(load(a), load(b)), _mm_set1_epi8(-1));
  return first_of(differ);
}

std::size_t before(char byte, const char* at) noexcept { return first_of(_mm_cmpeq_epi8(load(at), _mm_set1_epi8(byte))); }
#else
std::size_t agreeing(const char* a, const char* b) noexcept {
  std::size_t at = 0;
  while (at < step && a[at] == b[at]) ++at;
  return at;
}

std::size_t before(char byte, const char* at) noexcept {
  const void* const found = std::memchr(at, byte, step);
  return found == nullptr ? step : static_cast<std::size_t>(static_cast<const char*>(found) - at);
}
#endif

// In how many bytes they agree, at most `most`. Less than a step behind these is read.
std::size_t common(const char* a, const char* b, std::size_t most) noexcept {
  for (std::size_t at = 0; at < most; at += step)
    if (const std::size_t found = agreeing(a + at, b + at); found < step) return std::min(at + found, most);
  return most;
}

// Bytes before the terminator, at most `most`, likewise.
std::size_t size_before(char terminator, const char* at, std::size_t most) noexcept {
  for (std::size_t size = 0; size < most; size += step)
    if (const std::size_t found = before(terminator, at + size); found < step) return std::min(size + found, most);
  return most;
}

// May write up to a step more than `size`.
void copy_wide(char* to, const char* from, std::size_t size) noexcept {
  std::memmove(to, from, step);
  if (size > step) [[unlikely]]
    std::memcpy(to + step, from + step, size - step);
}

char* put_number(char* to, std::size_t value) noexcept {
  const auto number = static_cast<std::uint32_t>(value);
  std::memcpy(to, &number, sizeof number);
  return to + sizeof number;
}

// Returns where the row's own bytes go.
char* put_head(char* to, std::size_t shared, std::size_t own) noexcept {
  to[0] = static_cast<char>(std::min<std::size_t>(shared, more_follow));
  to[1] = static_cast<char>(std::min<std::size_t>(own, more_follow));
  to += 2;
  if (shared >= more_follow) to = put_number(to, shared);
  if (own >= more_follow) to = put_number(to, own);
  return to;
}

}  // namespace

// A row is compared with the one before, whose length is known, and its end is looked for behind what they share.
std::optional<TruncatedRows> truncate(const RowsToTruncate& in, std::span<std::byte> to) {
  const char* const rows = reinterpret_cast<const char*>(in.rows.data());
  const char *const end = rows + in.rows.size(), *row = rows + in.carried, *last = row;
  char *const out = reinterpret_cast<char*>(to.data()), *at = out;
  if (in.carried > to.size()) return std::nullopt;
  std::memcpy(at, rows, in.carried);
  at += in.carried;
  bool is_last_whole = true;
  for (std::size_t last_size = 0; row < end;) {
    const std::size_t shared = common(last, row, std::min(last_size, static_cast<std::size_t>(end - row)));
    const char* const rest = row + shared;
    const auto left = static_cast<std::size_t>(end - rest);
    const std::size_t own = size_before(in.terminator, rest, left);
    if (static_cast<std::size_t>(out + to.size() - at) < most_head_bytes + own + step) return std::nullopt;
    at = put_head(at, shared, own);
    copy_wide(at, rest, own);
    at += own;
    last = row;
    last_size = shared + own;
    is_last_whole = own < left;
    row = rest + own + (is_last_whole ? 1 : 0);
  }
  return TruncatedRows{static_cast<std::size_t>(at - out), is_last_whole};
}

bool restore(std::span<const std::byte> truncated, bool is_last_whole, char terminator, std::size_t carried,
             std::span<std::byte> to) {
  if (carried > truncated.size() || carried > to.size()) return false;
  const char *at = reinterpret_cast<const char*>(truncated.data()), *const end = at + truncated.size();
  char *row = reinterpret_cast<char*>(to.data()), *const out_end = row + to.size(), *last = row;
  std::memcpy(row, at, carried);
  at += carried;
  row += carried;
  for (std::size_t last_size = 0; at < end;) {
    const std::optional<TruncatedRow> next = truncated_row_at(at, end);
    if (!next || next->shared > last_size || next->own > static_cast<std::size_t>(end - next->bytes)) return false;
    at = next->bytes + next->own;
    const std::size_t size = next->shared + next->own;
    const bool is_whole = at < end || is_last_whole;
    const auto room = static_cast<std::size_t>(out_end - row);
    if (size + (is_whole ? 1 : 0) > room) return false;
    if (size + 2 * step <= room && static_cast<std::size_t>(end - next->bytes) >= step) [[likely]] {
      copy_wide(row, last, next->shared);
      copy_wide(row + next->shared, next->bytes, next->own);
    } else {
      std::memmove(row, last, next->shared);
      if (next->own > 0) std::memcpy(row + next->shared, next->bytes, next->own);
    }
    last = row;
    last_size = size;
    row += size;
    if (is_whole) *row++ = terminator;
  }
  return row == out_end;
}

}  // namespace ecosort::codec
